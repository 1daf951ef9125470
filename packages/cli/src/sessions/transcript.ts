import {
  type Block,
  type CallOutcome,
  CallOutcomes,
  type DistributedStore,
  isDiscarded,
  type LogRecord,
  type Message,
  type Slot,
  withBlobs,
} from "@holdfast/core";
import { evictionOf } from "@holdfast/eviction";

/**
 * What the model still sees of a message: `whole`; `clipped` or `evicted`, a part of it; `compacted`, what a summary says of
 * it; nothing of what was `discarded` (its call was taken back, or lost to a conflict) or is `unfinished` (its call runs,
 * or died before it was saved).
 */
export type Visibility = "whole" | "clipped" | "evicted" | "compacted" | "discarded" | "unfinished";

/** A record of the log, and what became of it. */
export interface TranscriptEntry {
  /** With its long texts. */
  readonly record: LogRecord;
  /** How its call ended; null when it has not, or for marks of no call. */
  readonly outcome: CallOutcome | null;
  /** Absent on marks. */
  readonly visibility?: Visibility | undefined;
}

/** Which part of a transcript. */
export interface TranscriptPage {
  readonly entries: readonly TranscriptEntry[];
  /** There are older records: the page before this seq. */
  readonly before?: number | undefined;
}

/** The newest records of a session before `before`, oldest first. @param context - of its state */
export async function readTranscript(
  { log }: Pick<DistributedStore, "log">,
  slot: Slot,
  context: readonly Message[],
  { limit, before }: { readonly limit: number; readonly before?: number | undefined },
): Promise<TranscriptPage> {
  // One more tells whether there are older ones.
  const found = await log.read(slot, { before, limit: limit + 1 });
  const page = found.length > limit ? found.slice(1) : found;
  const present = new Map(context.map((message) => [message.id, message]));
  const outcomes = new CallOutcomes(log);
  const entries: TranscriptEntry[] = [];
  for (const stored of page) {
    const record = await withBlobs(log, slot, stored);
    const outcome = await outcomes.of(slot, stored);
    const { message } = record;
    const visibility = message && visibilityOf(message, present.get(message.id), outcome);
    entries.push({ record, outcome, ...(visibility && { visibility }) });
  }
  return { entries, before: found.length > limit ? page[0]?.seq : undefined };
}

function visibilityOf(
  said: Message,
  kept: Message | undefined,
  outcome: CallOutcome | null,
): Visibility {
  if (kept === undefined) {
    if (isDiscarded(outcome)) return "discarded";
    return outcome === null ? "unfinished" : "compacted";
  }
  const isEvicted = kept.content.some(
    (block) => block.type === "tool_result" && evictionOf(block) !== null,
  );
  if (isEvicted) return "evicted";
  return JSON.stringify(kept.content) === JSON.stringify(said.content) ? "whole" : "clipped";
}

/** A message as a person reads it; as it was said, so it has to be made safe before it is printed. */
export function messageText({ content }: Message): string {
  return content.map(blockText).join("\n");
}

/** Characters of everything in a message, data and inputs of tools included. */
export function messageChars(message: Message): number {
  return JSON.stringify(message.content).length;
}

function blockText(block: Block): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "thinking":
      return `[thinking] ${block.text}`;
    case "hint":
      return `[${block.source}] ${block.text}`;
    case "data":
      return `[${block.mediaType}${block.name === undefined ? "" : ` ${block.name}`}]`;
    case "tool_call":
      return `[calls ${block.name}] ${JSON.stringify(block.input)}`;
    case "tool_result":
      return `[${block.name}: ${block.state}] ${block.output.map(blockText).join("\n")}`;
    default:
      // Of a newer release.
      return JSON.stringify(block);
  }
}
