/** What may stand between two characters and is not seen, or is only a sign above or below one. */
const UNSEEN = "\\p{Default_Ignorable_Code_Point}\\p{M}";
/** Everything that looks like the bracket. */
const BRACKET = "<\\uFF1C\\uFE64\\u2039\\u3008\\u2329\\u27E8";

/**
 * For text that is quoted between marks such as `<memory>` and `</memory>`: makes a function after which it can neither end
 * nor imitate them. What reads as a mark with one of the names, in whatever letters, loses its bracket.
 *
 * @param names - of small letters a to z
 * @example
 * const quote = markQuoter(["memory"]);
 * `<memory>\n${quote(text)}\n</memory>`;
 */
export function markQuoter(names: readonly string[]): (text: string) => string {
  const alike = names.map((name) =>
    [...name].map((letter) => `[${lookAlikes(letter)}]`).join(`[${UNSEEN}]*`),
  );
  // What may stand in front of the name holds no bracket, so that every character is looked at a few times at most.
  const mark = new RegExp(
    `[${BRACKET}](?=[[^\\p{L}\\p{N}${BRACKET}]${UNSEEN}]*(?:${alike.join("|")}))`,
    "giv",
  );
  return (text) => text.replace(mark, "&lt;");
}

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
function lookAlikes(letter: string): string {
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
