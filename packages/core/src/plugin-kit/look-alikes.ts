/** Where Unicode keeps other shapes of Latin letters: raised, lowered, circled, squared, mathematical and wide ones. */
const SHAPES: readonly (readonly [first: number, last: number])[] = [
  [0x02b0, 0x02b8],
  [0x1d2c, 0x1d6a],
  [0x2070, 0x214f],
  [0x24b6, 0x24e9],
  [0xff21, 0xff5a],
  [0x1d400, 0x1d7ff],
  [0x1f130, 0x1f189],
];

/** Letters of other scripts that look the same. */
const TWINS: Readonly<Record<string, string>> = {
  ...{ a: "аα", c: "сϲ", e: "еε", i: "іι", l: "ӏι", m: "м", n: "пո", o: "оοօ", r: "гᴦ", s: "ѕ" },
  ...{ t: "тτ", u: "υս", v: "ѵν", y: "уγ" },
};

const shapes: ReadonlyMap<string, string> = collect();

/** A small letter and what a reader takes for it, for a class of an expression that ignores case. */
export function lookAlikes(letter: string): string {
  return `${letter}${TWINS[letter] ?? ""}${shapes.get(letter) ?? ""}`;
}

function collect(): Map<string, string> {
  const found = new Map<string, string>();
  for (const [first, last] of SHAPES)
    for (let code = first; code <= last; code++) {
      const shape = String.fromCodePoint(code);
      const plain = shape.normalize("NFKC").toLowerCase();
      if (/^[a-z]$/.test(plain)) found.set(plain, (found.get(plain) ?? "") + shape);
    }
  return found;
}
