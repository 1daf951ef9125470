/** The marks that quoted text stands in, here and in the system prompt of a workspace. */
const NAMES = ["memory", "notes", "conversation", "message", "call", "result"];

/** What may stand between two characters and is not seen. */
const UNSEEN = "\\p{Default_Ignorable_Code_Point}";

/** A letter or its wide form. */
const letter = (character: string): string =>
  `[${character}${String.fromCodePoint((character.codePointAt(0) as number) + 0xfee0)}]`;

/**
 * The bracket before anything that reads as one of the names, whatever unseen stands in it. What may stand in front of the
 * name holds no bracket, so that every character is looked at a few times at most.
 */
const MARK = new RegExp(
  `[<\\uFF1C\\uFE64](?=[[^\\p{L}\\p{N}<\\uFF1C\\uFE64]${UNSEEN}]*(?:${NAMES.map((name) =>
    [...name].map(letter).join(`${UNSEEN}*`),
  ).join("|")}))`,
  "giv",
);

/** A text that can neither end nor imitate the quotation it stands in: what resembles one of its marks loses the bracket. */
export function quoteText(text: string): string {
  return text.replace(MARK, "&lt;");
}

/** A text between marks that nothing in it can close. */
export function quoted(
  name: "memory" | "notes" | "conversation" | "message" | "call" | "result",
  attributes: Readonly<Record<string, string>>,
  text: string,
): string {
  return `${openMark(name, attributes)}\n${quoteText(text)}\n</${name}>`;
}

/** An opening mark; values of attributes cannot end it. */
export function openMark(name: string, attributes: Readonly<Record<string, string>>): string {
  const list = Object.entries(attributes).map(([key, value]) => ` ${key}=${attributeValue(value)}`);
  return `<${name}${list.join("")}>`;
}

function attributeValue(value: string): string {
  const plain = value.replace(/[<>"&\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, "?");
  return `"${plain}"`;
}
