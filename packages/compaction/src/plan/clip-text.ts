import { cutIndex } from "@holdfast/core/plugin-kit";

/** Returns head and tail of a text with `between` in the middle, `maxChars` in all unless `between` alone is longer. */
export function clipText(text: string, maxChars: number, between: string): string {
  if (text.length <= maxChars) return text;
  const room = Math.max(0, maxChars - between.length);
  const head = cutIndex(text, Math.ceil(room / 2));
  // A tail that would start inside a surrogate pair starts after it.
  const wanted = text.length - Math.floor(room / 2);
  const cut = cutIndex(text, wanted);
  const tail = cut < wanted ? cut + 2 : wanted;
  return text.slice(0, head) + between + text.slice(tail);
}
