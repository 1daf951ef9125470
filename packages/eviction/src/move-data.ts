import type { DataBlock, Offloader, Slot, TextBlock } from "@holdfast/core";
import type { OffloadReference } from "@holdfast/core/plugin-kit";
import { checkReference } from "./check-reference.js";
import { NOTICE_CHARS } from "./eviction-options.js";
import { charsOf, type Output } from "./result-size.js";

/** How many characters of data may stay beyond the budget because each piece is small: together they are not. */
const SPARED_CHARS = 10 * NOTICE_CHARS;

/** One part of a result after its data was looked at. */
export type Part =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "kept"; readonly block: DataBlock }
  | { readonly kind: "moved"; readonly note: string; readonly reference: string };

/**
 * Moves data blocks out until the rest fits into `budget` characters; the first ones that fit stay, and so do a few small
 * ones, for which a note would be as long. Where the offloader does not take data all of it stays: it is never dropped.
 */
export async function moveData(
  slot: Slot,
  output: Output,
  budget: number,
  offloader: Pick<Offloader, "offloadData">,
  gaveUp: AbortSignal,
): Promise<readonly Part[]> {
  const parts: Part[] = [];
  let left = budget;
  let spared = SPARED_CHARS;
  for (const part of output) {
    if (part.type === "text") {
      parts.push({ kind: "text", text: part.text });
      continue;
    }
    const chars = charsOf(part);
    const isSpared = chars <= Math.min(spared, NOTICE_CHARS);
    if (chars <= left || isSpared || offloader.offloadData === undefined) {
      if (chars > left && isSpared) spared -= chars;
      left -= chars;
      parts.push({ kind: "kept", block: part });
      continue;
    }
    const reference = checkReference(await offloader.offloadData(slot, part));
    gaveUp.throwIfAborted();
    parts.push({
      kind: "moved",
      note: noteOf(part, reference),
      reference: reference.reference,
    });
  }
  return parts;
}

/** The parts as an output: notes stand where data was. */
export function outputOf(parts: readonly Part[]): Output {
  return parts.map((part) =>
    part.kind === "kept"
      ? part.block
      : { type: "text", text: part.kind === "text" ? part.text : part.note },
  );
}

/** The parts as text alone: words stand also where data is that stays in the conversation. */
export function textBlocksOf(parts: readonly Part[]): readonly TextBlock[] {
  return outputOf(parts).map((part) =>
    part.type === "text"
      ? part
      : { type: "text", text: `[${nameOf(part)}: it stayed in the conversation]` },
  );
}

function noteOf(block: DataBlock, { readBack }: OffloadReference): string {
  return `[${nameOf(block)}, ${charsOf(block)} characters as ${block.source.kind}, was moved out of the conversation. ${readBack}]`;
}

function nameOf({ mediaType, name }: DataBlock): string {
  return name === undefined ? mediaType : `${mediaType} ${JSON.stringify(name)}`;
}
