import { cutIndex } from "@holdfast/core/plugin-kit";

/** Cuts a text to `maxChars` around an index of it, with `…` where something was left out. */
export function excerpt(text: string, at: number, maxChars: number): string {
  if (text.length <= maxChars) return text;
  // A third before the index, two thirds from it on, and no unused room at the end.
  const wanted = Math.max(0, Math.min(at - Math.floor(maxChars / 3), text.length - maxChars));
  const start = cutIndex(text, wanted);
  const end = cutIndex(text, start + maxChars);
  return `${start > 0 ? "…" : ""}${text.slice(start, end)}${end < text.length ? "…" : ""}`;
}
