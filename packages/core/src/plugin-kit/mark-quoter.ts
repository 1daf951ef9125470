import { lookAlikes } from "./look-alikes.js";

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
