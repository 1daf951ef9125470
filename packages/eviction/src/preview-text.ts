import { cutIndex } from "@holdfast/core/plugin-kit";
import { NOTICE_CHARS } from "./eviction-options.js";

/**
 * What stays of a text in the context: a notice, the head, how much is missing, the tail.
 *
 * The notice comes first: whoever reads only the beginning, or clips the result again later, still has the pointer.
 * Head and tail get shorter where the text is, so that the preview is never longer than what it stands for.
 */
export function previewText(text: string, previewChars: number, readBack: string): string {
  const chars = Math.max(0, Math.min(previewChars, Math.floor((text.length - NOTICE_CHARS) / 2)));
  const head = text.slice(0, cutIndex(text, chars));
  const tail = text.slice(cutIndex(text, text.length - chars));
  const left = text.length - head.length - tail.length;
  const notice = `[This result has ${text.length} characters, too many for the conversation. ${readBack}`;
  if (chars === 0) return `${notice} Nothing of it is shown here.]`;
  return [
    `${notice} Its first ${head.length} and last ${tail.length} characters follow.]`,
    head,
    `[… ${left} characters left out …]`,
    tail,
  ].join("\n\n");
}
