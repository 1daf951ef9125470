import type { Block, DistributedStore, LogRecord, Message, Slot } from "@holdfast/core";
import { CallOutcomes, isDiscarded, type RunOutcome, withBlobs } from "@holdfast/core/store-kit";
import { evictionOf } from "@holdfast/eviction";

/**
 * Part of a message that the model still sees: `whole`; `clipped` or `evicted`, a part; `compacted`, only its summary;
 * `discarded`, nothing, because its call was rolled back or lost to a conflict; `unfinished`, nothing, because its call
 * runs or died before it was saved.
 */
export type Visibility = "whole" | "clipped" | "evicted" | "compacted" | "discarded" | "unfinished";

/** Record of the log with its outcome. */
export interface TranscriptEntry {
  /** Record with its long texts. */
  readonly record: LogRecord;
  /** Outcome of its call; null while the call runs, and for marks outside of calls. */
  readonly outcome: RunOutcome | null;
  /** Absent on marks. */
  readonly visibility?: Visibility | undefined;
}

/** Page of a transcript. */
export interface TranscriptPage {
  readonly entries: readonly TranscriptEntry[];
  /** Continue with records before this seq; absent on the oldest page. */
  readonly before?: number | undefined;
}

/** Reads the newest records of a session before `before`, oldest first. @param context - messages of its state */
export async function readTranscript(
  { log, stateStore }: Pick<DistributedStore, "log" | "stateStore">,
  slot: Slot,
  context: readonly Message[],
  { limit, before }: { readonly limit: number; readonly before?: number | undefined },
): Promise<TranscriptPage> {
  // One more, to see whether there are older ones.
  const found = await log.read(slot, { before, limit: limit + 1 });
  const page = found.length > limit ? found.slice(1) : found;
  const present = new Map(context.map((message) => [message.id, message]));
  const outcomes = new CallOutcomes(log, { stateStore });
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
  outcome: RunOutcome | null,
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

/** Formats a message; the text may hold control characters. */
export function messageText({ content }: Message): string {
  return content.map(blockText).join("\n");
}

/** Counts the characters of a message, including data and tool inputs. */
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
      // A block type of a newer release.
      return JSON.stringify(block);
  }
}
