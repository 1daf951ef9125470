import { cutIndex } from "@holdfast/core/plugin-kit";

/** Control characters except tab and line feed. */
const control = String.raw`[\p{Cc}--[\t\n]]`;
/** Soft hyphen, zero-width and direction marks, separators, Unicode tags and rare variation selectors. */
const zeroWidth = String.raw`\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}`;

/** Characters that a reader does not see but a model does: foreign texts can hide instructions in them. */
const invisible = new RegExp(String.raw`[${control}${zeroWidth}\p{Surrogate}]`, "gv");

/** Returns a server's text without invisible characters, cut to `maxChars` with `…` at the end. */
export function cleanText(text: string, maxChars: number): string {
  const clean = text.replaceAll("\r\n", "\n").replace(invisible, "").trim();
  if (clean.length <= maxChars) return clean;
  return `${clean.slice(0, cutIndex(clean, maxChars - 1))}…`;
}
