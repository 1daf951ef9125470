import type { DataBlock, Offloader, Slot, TextBlock } from "@holdfast/core";
import { contentChars, type OffloadReference, offloadReference } from "@holdfast/core/plugin-kit";
import { NOTICE_CHARS } from "./eviction-options.js";
import type { Output } from "./result-size.js";

/** Characters of small data blocks that may stay beyond the budget; together they would not be small. */
const SPARED_CHARS = 10 * NOTICE_CHARS;

/** One part of a result, with the decision about its data. */
export type Part =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "kept"; readonly block: DataBlock }
  | { readonly kind: "moved"; readonly note: string; readonly reference: string };

/**
 * Moves data blocks out until the rest fits into `budget` characters. The first ones that fit stay, and so do a few small
 * ones, for which a note would be as long. All data stays if the offloader does not take data: it is never dropped.
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
    const chars = contentChars(part);
    const isSpared = chars <= Math.min(spared, NOTICE_CHARS);
    if (chars <= left || isSpared || offloader.offloadData === undefined) {
      if (chars > left && isSpared) spared -= chars;
      left -= chars;
      parts.push({ kind: "kept", block: part });
      continue;
    }
    const reference = offloadReference(await offloader.offloadData(slot, part));
    gaveUp.throwIfAborted();
    parts.push({
      kind: "moved",
      note: noteOf(part, reference),
      reference: reference.reference,
    });
  }
  return parts;
}

/** Returns the parts as an output, with notes in place of moved data. */
export function outputOf(parts: readonly Part[]): Output {
  return parts.map((part) =>
    part.kind === "kept"
      ? part.block
      : { type: "text", text: part.kind === "text" ? part.text : part.note },
  );
}

/** Returns the parts as text alone, with notes also in place of data that stays in the conversation. */
export function textBlocksOf(parts: readonly Part[]): readonly TextBlock[] {
  return outputOf(parts).map((part) =>
    part.type === "text"
      ? part
      : { type: "text", text: `[${nameOf(part)}: it stayed in the conversation]` },
  );
}

function noteOf(block: DataBlock, { readBack }: OffloadReference): string {
  return `[${nameOf(block)}, ${contentChars(block)} characters as ${block.source.kind}, was moved out of the conversation. ${readBack}]`;
}

function nameOf({ mediaType, name }: DataBlock): string {
  return name === undefined ? mediaType : `${mediaType} ${JSON.stringify(name)}`;
}
