/**
 * A text that cannot end the quotation it stands in: every mark in it that is or resembles `<memory>` or `</memory>` loses
 * its bracket.
 */
export function quoteMemory(text: string): string {
  return text.replace(/<(?=[^\p{L}\p{N}<]{0,16}memory)/giu, "&lt;");
}
