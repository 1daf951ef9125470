import { markQuoter } from "@holdfast/core/plugin-kit";

/** Names of the marks around quoted text, here and in the system prompt of a workspace. */
const NAMES = ["memory", "notes", "conversation", "message", "call", "result"] as const;

/** Escapes a text so that it can neither end nor imitate a quotation: what resembles a mark loses its bracket. */
export const quoteText: (text: string) => string = markQuoter(NAMES);

/** Quotes a text between marks that nothing in it can close. */
export function quoted(
  name: (typeof NAMES)[number],
  attributes: Readonly<Record<string, string>>,
  text: string,
): string {
  return `${openMark(name, attributes)}\n${quoteText(text)}\n</${name}>`;
}

/** Makes an opening mark; values of attributes cannot end it. */
export function openMark(name: string, attributes: Readonly<Record<string, string>>): string {
  const list = Object.entries(attributes).map(([key, value]) => ` ${key}=${attributeValue(value)}`);
  return `<${name}${list.join("")}>`;
}

function attributeValue(value: string): string {
  const plain = value.replace(/[<>"&\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, "?");
  return `"${plain}"`;
}
