import { cutIndex } from "@holdfast/core/plugin-kit";
import { literalPattern } from "@holdfast/core/store-kit";

/** Cuts a text to `maxChars` around the first of the `terms` in it, with `…` where something was left out. */
export function excerpt(text: string, terms: readonly string[], maxChars: number): string {
  if (text.length <= maxChars) return text;
  const places = terms.map((term) => text.search(literalPattern(term))).filter((at) => at >= 0);
  const first = places.length === 0 ? 0 : Math.min(...places);
  // A third before the term, two thirds from it on, and no unused room at the end.
  const wanted = Math.min(first - Math.floor(maxChars / 3), text.length - maxChars);
  const start = cutIndex(text, wanted);
  const end = cutIndex(text, start + maxChars);
  return `${start > 0 ? "…" : ""}${text.slice(start, end)}${end < text.length ? "…" : ""}`;
}
