import type { TokenCounter, ToolResultBlock } from "@holdfast/core";
import { contentChars } from "@holdfast/core/plugin-kit";
import { type EvictionSettings, NOTICE_CHARS } from "./eviction-options.js";

/** Output of a tool. */
export type Output = ToolResultBlock["output"];

/** Characters of text and data in an output. */
export function sizeOf(output: Output): number {
  return output.reduce((sum, part) => sum + contentChars(part), 0);
}

/** Characters of text alone. */
export function textSizeOf(output: Output): number {
  return output.reduce((sum, part) => (part.type === "text" ? sum + part.text.length : sum), 0);
}

/** Tells whether an output is too large. Tokens are counted only if the characters are within limits: counting is slow. */
export function isOver(
  output: Output,
  settings: EvictionSettings,
  counter: () => TokenCounter,
): boolean {
  return sizeOf(output) > settings.maxResultChars || isTextOver(output, settings, counter);
}

/** Tells whether moving its text would make a large output smaller. */
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
