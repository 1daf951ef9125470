import { cutIndex } from "@holdfast/core/plugin-kit";

/** Head and tail of a text with `between` in the middle: `maxChars` in all, as far as `between` leaves room. */
export function clipText(text: string, maxChars: number, between: string): string {
  if (text.length <= maxChars) return text;
  const room = Math.max(0, maxChars - between.length);
  const head = cutIndex(text, Math.ceil(room / 2));
  // Cutting inside a surrogate pair would leave half of it: the tail begins behind it.
  const wanted = text.length - Math.floor(room / 2);
  const cut = cutIndex(text, wanted);
  const tail = cut < wanted ? cut + 2 : wanted;
  return text.slice(0, head) + between + text.slice(tail);
}
