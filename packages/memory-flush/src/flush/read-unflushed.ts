import type { AgentStateStore, ConversationLog, LogRecord, Slot } from "@holdfast/core";
import { CallOutcomes, isDiscarded, withBlobs } from "@holdfast/core/store-kit";
import { renderMessage } from "./render-message.js";

/** A quoted message and its position in the log. */
export interface RenderedRecord {
  readonly seq: number;
  readonly text: string;
}

/** New messages of a log. */
export interface Unflushed {
  readonly messages: readonly RenderedRecord[];
  /** Position of the last record that was read; `messages` has everything to remember up to it. */
  readonly through: number;
  /** True when there are records after it. */
  readonly hasMore: boolean;
}

/** Tells which of the ends that a log names were saved. */
interface StateSource {
  readonly stateStore: Pick<AgentStateStore, "load">;
}

const PAGE = 100;
/** Limits of one read; both are more than a flush of an ordinary conversation needs. */
const MAX_RECORDS = 2_000;
const MAX_CHARS = 1_000_000;

/**
 * Reads the messages of a session after record `after`, without discarded calls and without what only repeats the memory. For
 * a call that has not ended, the messages so far count. The turns that a fork begins with are remembered from its source.
 */
export async function readUnflushed(
  { log, stateStore }: { readonly log: ConversationLog } & StateSource,
  slot: Slot,
  after: number,
): Promise<Unflushed> {
  const said: { readonly record: LogRecord; readonly text: string }[] = [];
  let through = after;
  let isWhole = false;
  /** Copied records that are still to come. */
  let copied = 0;
  for (let records = 0, chars = 0; records < MAX_RECORDS && chars < MAX_CHARS; ) {
    const page = await log.read(slot, { after: through, limit: PAGE });
    for (const record of page) {
      if (copied-- > 0) continue;
      copied = copiedBehind(record);
      records++;
      const text = await render(log, slot, record);
      chars += text?.length ?? 0;
      // Without the message, so that many large messages are not in memory at once.
      if (text !== null) said.push({ record: { ...record, message: undefined }, text });
    }
    through = page.at(-1)?.seq ?? through;
    isWhole = page.length < PAGE;
    if (isWhole) break;
  }
  const outcomes = new CallOutcomes(log, { stateStore });
  const messages: RenderedRecord[] = [];
  let read = after;
  for (const { record, text } of said) {
    const outcome = await outcomes.of(slot, record);
    // It may become part of the session: the next flush reads it again.
    if (outcome === "unsettled") return { messages, through: read, hasMore: false };
    if (!isDiscarded(outcome)) messages.push({ seq: record.seq, text });
    read = record.seq;
  }
  return { messages, through, hasMore: !isWhole };
}

/** Returns how many of the records behind this one are copies. */
function copiedBehind({ mark }: LogRecord): number {
  return mark?.name === "fork_start" ? Number(mark.details?.["records"] ?? 0) : 0;
}

async function render(log: ConversationLog, slot: Slot, record: LogRecord): Promise<string | null> {
  // A missing blob must not prevent everything else from being remembered.
  const whole = record.blobs ? await withBlobs(log, slot, record).catch(() => record) : record;
  return whole.message === undefined ? null : renderMessage(whole.message);
}
