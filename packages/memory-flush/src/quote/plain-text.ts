/** Invisible characters without a use in prose: controls, bidirectional overrides, tags; not the joiners of scripts and emoji. */
const HIDDEN =
  /[\p{Cc}\p{Zl}\p{Zp}\u00AD\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E0FFF}]/gu;
const HIDDEN_BUT_LINES = new RegExp(`(?![\\n\\t])${HIDDEN.source}`, "gu");

/** Puts a text on one line, without control and invisible characters. */
export function plainLine(text: string): string {
  return text.replace(HIDDEN, " ").replace(/ {2,}/g, " ").trim();
}

/** Removes control and invisible characters from a text; its lines stay. */
export function plainText(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(HIDDEN_BUT_LINES, "");
}
