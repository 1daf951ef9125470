/** What may stand between two characters and is not seen. */
const UNSEEN = "\\p{Default_Ignorable_Code_Point}";

/** The bracket before anything that reads as `memory`, whatever unseen stands in it. */
const MARK = new RegExp(
  `<(?=[[^\\p{L}\\p{N}<]${UNSEEN}]{0,64}${[..."memory"].join(`${UNSEEN}{0,64}`)})`,
  "giv",
);

/**
 * A text that cannot end the quotation it stands in: every mark in it that is or resembles `<memory>` or `</memory>` loses
 * its bracket.
 */
export function quoteMemory(text: string): string {
  return text.replace(MARK, "&lt;");
}
