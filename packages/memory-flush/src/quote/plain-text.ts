/** Not seen and without a use in prose: controls, bidirectional overrides, tags. The joiners of scripts and emoji stay. */
const HIDDEN =
  /[\p{Cc}\p{Zl}\p{Zp}\u00AD\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E0FFF}]/gu;
const HIDDEN_BUT_LINES = new RegExp(`(?![\\n\\t])${HIDDEN.source}`, "gu");

/** A text in one line, without control characters and what cannot be seen. */
export function plainLine(text: string): string {
  return text.replace(HIDDEN, " ").replace(/ {2,}/g, " ").trim();
}

/** A text with its lines, without other control characters and what cannot be seen. */
export function plainText(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(HIDDEN_BUT_LINES, "");
}
