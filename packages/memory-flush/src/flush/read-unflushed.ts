import type { ConversationLog, LogRecord, Slot } from "@holdfast/core";
import { CallOutcomes, isDiscarded, withBlobs } from "@holdfast/core/store-kit";
import { renderMessage } from "./render-message.js";

/** A message as it is quoted, and its place in the log. */
export interface RenderedRecord {
  readonly seq: number;
  readonly text: string;
}

/** What a log holds beyond some place. */
export interface Unflushed {
  readonly messages: readonly RenderedRecord[];
  /** The last record that was looked at; everything to remember up to it is in `messages`. */
  readonly through: number;
  /** Whether there are records beyond it. */
  readonly hasMore: boolean;
}

const PAGE = 100;
/** What is read at a time; both are more than a flush takes of an ordinary conversation. */
const MAX_RECORDS = 2_000;
const MAX_CHARS = 1_000_000;

/**
 * What was said in a session after record `after`: not in calls that were taken back, and nothing that is only an echo of
 * what is remembered anyway. Of a call that has not ended, what is there counts.
 */
export async function readUnflushed(
  log: ConversationLog,
  slot: Slot,
  after: number,
): Promise<Unflushed> {
  const said: { readonly record: LogRecord; readonly text: string }[] = [];
  let through = after;
  let isWhole = false;
  for (let records = 0, chars = 0; records < MAX_RECORDS && chars < MAX_CHARS; ) {
    const page = await log.read(slot, { after: through, limit: PAGE });
    for (const record of page) {
      const text = await render(log, slot, record);
      chars += text?.length ?? 0;
      // Without the message: pages of large ones need not be in memory at once.
      if (text !== null) said.push({ record: { ...record, message: undefined }, text });
    }
    records += page.length;
    through = page.at(-1)?.seq ?? through;
    isWhole = page.length < PAGE;
    if (isWhole) break;
  }
  const outcomes = new CallOutcomes(log);
  const messages: RenderedRecord[] = [];
  for (const { record, text } of said)
    if (!isDiscarded(await outcomes.of(slot, record))) messages.push({ seq: record.seq, text });
  return { messages, through, hasMore: !isWhole };
}

async function render(log: ConversationLog, slot: Slot, record: LogRecord): Promise<string | null> {
  // A long text that is lost must not keep everything else from being remembered.
  const whole = record.blobs ? await withBlobs(log, slot, record).catch(() => record) : record;
  return whole.message === undefined ? null : renderMessage(whole.message);
}
