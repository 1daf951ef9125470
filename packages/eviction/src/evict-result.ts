import { createHash } from "node:crypto";
import type { Offloader, Slot, TokenCounter, ToolResultBlock } from "@holdfast/core";
import { cutIndex, offloadReference } from "@holdfast/core/plugin-kit";
import { type Eviction, withEviction } from "./eviction-metadata.js";
import { type EvictionSettings, NOTICE_CHARS } from "./eviction-options.js";
import { moveData, outputOf, type Part, textBlocksOf } from "./move-data.js";
import { isTextWorthMoving, type Output, sizeOf } from "./result-size.js";

/** Notes about moved data that stay beside a preview; the others are in the text that was moved. */
export const MAX_NOTES = 10;

/** A result made smaller. */
export interface EvictedResult {
  readonly result: ToolResultBlock;
  readonly eviction: Eviction;
  /** SHA-256 in hex of the text that left; null if only data did. */
  readonly sha256: string | null;
}

/** Everything an eviction needs besides the result. */
export interface EvictionInput {
  readonly slot: Slot;
  readonly settings: EvictionSettings;
  readonly offloader: Pick<Offloader, "offloadToolResult" | "offloadData">;
  readonly counter: () => TokenCounter;
  /** Aborts when the eviction is no longer waited for. */
  readonly gaveUp: AbortSignal;
}

/**
 * Makes a large result smaller: first moves data that has no room, then the text if it is still too large. If anything
 * cannot be moved, the result stays as it was.
 *
 * @returns null if it cannot be made smaller
 */
export async function evictResult(
  original: ToolResultBlock,
  input: EvictionInput,
): Promise<EvictedResult | null> {
  const { slot, settings, offloader, counter, gaveUp } = input;
  const budget = settings.maxResultChars - 2 * settings.previewChars - NOTICE_CHARS;
  const parts = await moveData(slot, original.output, budget, offloader, gaveUp);
  const data = parts.flatMap((part) => (part.kind === "moved" ? part.reference : []));
  const text = isTextWorthMoving(outputOf(parts), settings, counter)
    ? await moveText(original, parts, input)
    : null;
  const reference = text?.reference ?? data[0];
  const output = text?.output ?? outputOf(parts);
  const chars = sizeOf(original.output);
  if (reference === undefined || sizeOf(output) >= chars) return null;
  const eviction = { reference, chars, ...(data.length > 0 && { data }) };
  return {
    result: withEviction(original, output, eviction),
    eviction,
    sha256: text?.sha256 ?? null,
  };
}

/** Moves the text, with notes in place of data, to the offloader; a preview and the data stay. */
async function moveText(
  original: ToolResultBlock,
  parts: readonly Part[],
  { slot, settings, offloader }: EvictionInput,
): Promise<{ readonly output: Output; readonly reference: string; readonly sha256: string }> {
  const texts = textBlocksOf(parts);
  const isText = parts.every(({ kind }) => kind === "text");
  const { reference, readBack } = offloadReference(
    await offloader.offloadToolResult(slot, isText ? original : { ...original, output: texts }, {
      directory: settings.directory,
    }),
  );
  const text = texts.map((block) => block.text).join("\n");
  const preview = previewText(text, settings.previewChars, readBack);
  return {
    output: [{ type: "text", text: preview }, ...besideText(parts)],
    reference,
    sha256: createHash("sha256").update(text, "utf8").digest("hex"),
  };
}

/** Returns the data that stays, and notes about the first blocks that do not. */
function besideText(parts: readonly Part[]): Output {
  const rest = parts.filter(({ kind }) => kind !== "text");
  const unlisted = new Set(rest.filter(({ kind }) => kind === "moved").slice(MAX_NOTES));
  const output = outputOf(rest.filter((part) => !unlisted.has(part)));
  if (unlisted.size === 0) return output;
  const more = `[${unlisted.size} more pieces of data were moved out of the conversation; the text that was left out names them.]`;
  return [...output, { type: "text", text: more }];
}

/**
 * Returns the part of a text that stays in the context: a notice, the head, the size of the gap, the tail.
 *
 * The notice comes first, so that the pointer survives a later clipping. Head and tail get shorter for a short text, so that
 * the preview is never longer than the text.
 */
function previewText(text: string, previewChars: number, readBack: string): string {
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
