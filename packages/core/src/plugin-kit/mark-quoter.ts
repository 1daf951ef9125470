/** Characters that are invisible, or only combine with the one before. */
const UNSEEN = "\\p{Default_Ignorable_Code_Point}\\p{M}";
/** Characters that look like the bracket. */
const BRACKET = "<\\uFF1C\\uFE64\\u2039\\u3008\\u2329\\u27E8";

/**
 * Returns a function that makes text safe to quote between marks such as `<memory>` and `</memory>`: the text can neither end
 * nor imitate them. Anything that reads as a mark with one of the names, in look-alike letters too, loses its bracket.
 *
 * @param names - names of marks, in lower-case letters a to z
 * @example
 * const quote = markQuoter(["memory"]);
 * `<memory>\n${quote(text)}\n</memory>`;
 */
export function markQuoter(names: readonly string[]): (text: string) => string {
  const alike = names.map((name) =>
    [...name].map((letter) => `[${lookAlikes(letter)}]`).join(`[${UNSEEN}]*`),
  );
  // The characters in front of the name include no bracket, which keeps matching linear.
  const mark = new RegExp(
    `[${BRACKET}](?=[[^\\p{L}\\p{N}${BRACKET}]${UNSEEN}]*(?:${alike.join("|")}))`,
    "giv",
  );
  return (text) => text.replace(mark, "&lt;");
}

/** Unicode ranges with variants of Latin letters: superscript, subscript, circled, squared, mathematical and full-width. */
const SHAPES: readonly (readonly [first: number, last: number])[] = [
  [0x02b0, 0x02b8],
  [0x1d2c, 0x1d6a],
  [0x2070, 0x214f],
  [0x24b6, 0x24e9],
  [0xff21, 0xff5a],
  [0x1d400, 0x1d7ff],
  [0x1f130, 0x1f189],
];

/** Letters of other scripts that look like a Latin one (homoglyphs). */
const TWINS: Readonly<Record<string, string>> = {
  ...{ a: "аα", c: "сϲ", e: "еε", i: "іι", l: "ӏι", m: "м", n: "пո", o: "оοօ", r: "гᴦ", s: "ѕ" },
  ...{ t: "тτ", u: "υս", v: "ѵν", y: "уγ" },
};

const shapes: ReadonlyMap<string, string> = collect();

/** Returns a lower-case letter and its look-alikes, for a character class of a case-insensitive expression. */
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
