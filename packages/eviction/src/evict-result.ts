import { createHash } from "node:crypto";
import type { Offloader, Slot, TokenCounter, ToolResultBlock } from "@holdfast/core";
import { checkReference } from "./check-reference.js";
import { type Eviction, withEviction } from "./eviction-metadata.js";
import { type EvictionSettings, NOTICE_CHARS } from "./eviction-options.js";
import { moveData, outputOf, type Part, textBlocksOf } from "./move-data.js";
import { previewText } from "./preview-text.js";
import { isTextWorthMoving, type Output, sizeOf } from "./result-size.js";

/** How many notes about moved data stay beside a preview; the others are in the text that was moved. */
export const MAX_NOTES = 10;

/** A result that became smaller. */
export interface EvictedResult {
  readonly result: ToolResultBlock;
  readonly eviction: Eviction;
  /** Of the text that left, in hex; null when only data did. */
  readonly sha256: string | null;
}

/** What an eviction needs beside the result. */
export interface EvictionMeans {
  readonly slot: Slot;
  readonly settings: EvictionSettings;
  readonly offloader: Pick<Offloader, "offloadToolResult" | "offloadData">;
  readonly counter: () => TokenCounter;
  /** Aborts when nobody waits for the eviction any more. */
  readonly gaveUp: AbortSignal;
}

/**
 * Makes a result that is too large smaller: first the data that has no room goes, then the text if it is still too
 * large. All of it arrives or the result stays what it was.
 *
 * @returns null when it cannot become smaller
 */
export async function evictResult(
  original: ToolResultBlock,
  means: EvictionMeans,
): Promise<EvictedResult | null> {
  const { slot, settings, offloader, counter, gaveUp } = means;
  const budget = settings.maxResultChars - 2 * settings.previewChars - NOTICE_CHARS;
  const parts = await moveData(slot, original.output, budget, offloader, gaveUp);
  const data = parts.flatMap((part) => (part.kind === "moved" ? part.reference : []));
  const text = isTextWorthMoving(outputOf(parts), settings, counter)
    ? await moveText(original, parts, means)
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

/** Moves the text, and words in the place of data, to the offloader; the preview and the data stay. */
async function moveText(
  original: ToolResultBlock,
  parts: readonly Part[],
  { slot, settings, offloader }: EvictionMeans,
): Promise<{ readonly output: Output; readonly reference: string; readonly sha256: string }> {
  const texts = textBlocksOf(parts);
  const isText = parts.every(({ kind }) => kind === "text");
  const { reference, readBack } = checkReference(
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

/** The data that stays, and notes about the first blocks that do not. */
function besideText(parts: readonly Part[]): Output {
  const rest = parts.filter(({ kind }) => kind !== "text");
  const unsaid = new Set(rest.filter(({ kind }) => kind === "moved").slice(MAX_NOTES));
  const output = outputOf(rest.filter((part) => !unsaid.has(part)));
  if (unsaid.size === 0) return output;
  const more = `[${unsaid.size} more pieces of data were moved out of the conversation; the text that was left out names them.]`;
  return [...output, { type: "text", text: more }];
}
