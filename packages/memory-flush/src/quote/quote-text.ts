import { markQuoter } from "@holdfast/core/plugin-kit";

/** The marks that quoted text stands in, here and in the system prompt of a workspace. */
const NAMES = ["memory", "notes", "conversation", "message", "call", "result"] as const;

/** A text that can neither end nor imitate the quotation it stands in: what resembles one of its marks loses the bracket. */
export const quoteText: (text: string) => string = markQuoter(NAMES);

/** A text between marks that nothing in it can close. */
export function quoted(
  name: (typeof NAMES)[number],
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
