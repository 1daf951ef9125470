import { cutIndex } from "@holdfast/core/plugin-kit";

/**
 * What a reader does not see but a model does: control characters but for tab and line break, zero-width and
 * direction marks, Unicode's invisible tag letters and rarer variation selectors, and halves of characters. Texts from outside can hide instructions in them.
 */
const invisible =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}\p{Surrogate}]/gu;

/** `text` of a server without invisible characters and within `maxChars`; what was cut is marked by `…`. */
export function cleanText(text: string, maxChars: number): string {
  const clean = text.replaceAll("\r\n", "\n").replace(invisible, "").trim();
  if (clean.length <= maxChars) return clean;
  return `${clean.slice(0, cutIndex(clean, maxChars - 1))}…`;
}
