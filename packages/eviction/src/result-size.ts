import type { DataBlock, TextBlock, TokenCounter, ToolResultBlock } from "@holdfast/core";
import { type EvictionSettings, NOTICE_CHARS } from "./eviction-options.js";

/** What a tool returns. */
export type Output = ToolResultBlock["output"];

/** How much a part of a result weighs: characters of text, of base64, or of a URL, which may hold the data itself. */
export function charsOf(part: TextBlock | DataBlock): number {
  if (part.type === "text") return part.text.length;
  return part.source.kind === "base64" ? part.source.data.length : part.source.url.length;
}

/** Characters of text and of data in an output. */
export function sizeOf(output: Output): number {
  return output.reduce((sum, part) => sum + charsOf(part), 0);
}

/** Characters of text alone. */
export function textSizeOf(output: Output): number {
  return output.reduce((sum, part) => (part.type === "text" ? sum + part.text.length : sum), 0);
}

/** Whether an output is too large. Tokens are counted only when characters leave it open: counting is slow. */
export function isOver(
  output: Output,
  settings: EvictionSettings,
  counter: () => TokenCounter,
): boolean {
  return sizeOf(output) > settings.maxResultChars || isTextOver(output, settings, counter);
}

/** Whether it would help to move the text of an output that is too large. */
export function isTextWorthMoving(
  output: Output,
  settings: EvictionSettings,
  counter: () => TokenCounter,
): boolean {
  const chars = textSizeOf(output);
  if (chars > 2 * settings.previewChars + NOTICE_CHARS && sizeOf(output) > settings.maxResultChars)
    return true;
  return chars > NOTICE_CHARS && isTextOver(output, settings, counter);
}

function isTextOver(
  output: Output,
  { maxResultTokens }: EvictionSettings,
  counter: () => TokenCounter,
): boolean {
  if (maxResultTokens === Number.POSITIVE_INFINITY) return false;
  const tokenCounter = counter();
  let tokens = 0;
  for (const part of output) {
    if (part.type === "text") tokens += tokenCounter.countText(part.text);
    if (tokens > maxResultTokens) return true;
  }
  return false;
}
