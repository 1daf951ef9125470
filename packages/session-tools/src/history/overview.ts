import { type LogRecord, StateCorruptError } from "@holdfast/core";
import { isMessage, type MessageRecord, records } from "../log-records.js";
import { refuseMissingSession } from "../missing-session.js";
import { BlobReader } from "../render/blob-reader.js";
import { readPage } from "../render/read-page.js";
import { renderMessage } from "../render/render-message.js";
import type { Arguments } from "../tool-calls.js";
import { historyCall, type Reading } from "./reading.js";
import { markLine, messageHead } from "./record-head.js";

/** Range and number of the messages to show. */
export interface OverviewRequest {
  readonly lastN: number;
  readonly before?: number | undefined;
  readonly after?: number | undefined;
  /** Shows messages on both sides of this position. */
  readonly around?: number | undefined;
  readonly includeDiscarded?: boolean | undefined;
}

/** Messages of a page unless the model asks for another number. */
export const DEFAULT_MESSAGES = 20;

/** Characters reserved for the text around the messages, without the ids in it. */
const AROUND_CHARS = 300;

/** Shows messages and marks of a session, oldest first, long ones cut, and says how to see more. */
export async function overview(reading: Reading, request: OverviewRequest): Promise<string> {
  const { around } = request;
  if (around !== undefined) return overviewAround(reading, { ...request, around });
  return overviewOf(reading, request);
}

/** Shows half of the messages up to a position and half of them after it. */
async function overviewAround(
  reading: Reading,
  { around, lastN, includeDiscarded }: OverviewRequest & { readonly around: number },
): Promise<string> {
  const { settings, log, caller, slot } = reading;
  const session = `session ${JSON.stringify(slot.sessionId)}`;
  const more = (range: Arguments): string => historyCall(reading, range, includeDiscarded);
  const chars = settings.maxPageChars - AROUND_CHARS - session.length - 2 * more({}).length;
  const upTo = { lastN: Math.ceil((lastN + 1) / 2), before: around + 1, includeDiscarded };
  const earlier = await collect(reading, upTo, Math.ceil(chars / 2));
  const behind = { lastN: Math.max(1, lastN - earlier.messages), after: around, includeDiscarded };
  const used = earlier.items.reduce((sum, item) => sum + item.length + 2, 0);
  const later = await collect(reading, behind, chars - used);
  const items = [...earlier.items, ...later.items];
  if (items.length === 0) await refuseMissingSession(log, caller, slot);
  const messages = earlier.messages + later.messages;
  const notes = [
    earlier.stopped === undefined
      ? "This is the beginning of the conversation."
      : `Earlier ones: ${more({ before: earlier.reached })}.`,
    later.stopped === undefined
      ? "Nothing later."
      : `Later ones: ${more({ after: later.reached })}.`,
  ];
  const head = `${messages} ${messages === 1 ? "message" : "messages"} of ${session} around ${around}, oldest first:`;
  return [head, ...items, `[${notes.join(" ")}]`].join("\n\n");
}

async function overviewOf(reading: Reading, request: OverviewRequest): Promise<string> {
  const { lastN, before, after, includeDiscarded } = request;
  const more = (range: { before?: number | undefined; after?: number | undefined }): string => {
    const args = { ...range, lastN: lastN === DEFAULT_MESSAGES ? undefined : lastN };
    return historyCall(reading, args, includeDiscarded);
  };
  const session = `session ${JSON.stringify(reading.slot.sessionId)}`;
  const around = AROUND_CHARS + session.length + 2 * more({}).length;
  const page = await collect(reading, request, reading.settings.maxPageChars - around);
  const { items, messages, stopped, reached } = page;
  if (items.length === 0 && stopped === undefined)
    await refuseMissingSession(reading.log, reading.caller, reading.slot);
  const notes: string[] = [];
  if (stopped === "time") notes.push("Time was up.");
  if (after === undefined) {
    if (stopped !== undefined) notes.push(`Earlier ones: ${more({ before: reached })}.`);
    else if (items.length > 0) notes.push("This is the beginning of the conversation.");
    if (before !== undefined) notes.push(`Later ones: ${more({ after: before - 1 })}.`);
  } else {
    if (stopped !== undefined) notes.push(`Later ones: ${more({ after: reached, before })}.`);
    else if (items.length > 0) notes.push(`Nothing later${within({ before })}.`);
    notes.push(`Earlier ones: ${more({ before: after + 1 })}.`);
  }
  const head =
    items.length === 0
      ? `Nothing to show ${stopped === undefined ? "" : "so far "}of ${session}${within(request)}.`
      : `${messages} ${messages === 1 ? "message" : "messages"} of ${session}, oldest first:`;
  const foot = notes.length === 0 ? [] : [`[${notes.join(" ")}]`];
  return [head, ...items, ...foot].join("\n\n");
}

/** Items of a page. */
interface Collected {
  /** Oldest first. */
  readonly items: readonly string[];
  readonly messages: number;
  /** Reason why the page ends before the range does; undefined when it does not. */
  readonly stopped: "full" | "time" | undefined;
  /** Position of the last record that was looked at. */
  readonly reached: number | undefined;
}

async function collect(
  reading: Reading,
  { lastN, before, after, includeDiscarded }: OverviewRequest,
  chars: number,
): Promise<Collected> {
  const { log, slot, clock } = reading;
  const items: string[] = [];
  let [room, messages] = [chars, 0];
  let reached: number | undefined;
  const page = (stopped?: Collected["stopped"]): Collected => ({
    items: after === undefined ? items.reverse() : items,
    messages,
    stopped,
    reached,
  });
  for await (const record of records(log, slot, { before, after }, clock)) {
    const item = await describeRecord(reading, record, includeDiscarded);
    if (item !== null) {
      room -= item.length + 2;
      // The first item is always shown, so that paging makes progress.
      if (messages === lastN || (items.length > 0 && room < 0)) return page("full");
      items.push(item);
      if (isMessage(record)) messages++;
    }
    reached = record.seq;
    if (clock.isUp) return page("time");
  }
  return page();
}

/** Describes a record for an overview; null when it is not shown. */
async function describeRecord(
  reading: Reading,
  record: LogRecord,
  includeDiscarded: boolean | undefined,
): Promise<string | null> {
  if (!isMessage(record) && markLine(record, "") === null) return null;
  const remark = await reading.remarks.remark(reading.slot, record);
  if (remark === null) return null;
  if (!isMessage(record)) return markLine(record, remark);
  return `${messageHead(record, remark)}\n${await preview(reading, record, includeDiscarded)}`;
}

async function preview(
  reading: Reading,
  record: MessageRecord,
  includeDiscarded: boolean | undefined,
): Promise<string> {
  const { log, slot, clock, settings } = reading;
  const { body } = renderMessage(record);
  try {
    const blobs = new BlobReader(log, slot, clock);
    const { text, end, isLast } = await readPage(blobs, body, 0, settings.previewChars);
    if (isLast) return text;
    const more = historyCall(reading, { at: record.seq, offset: end }, includeDiscarded);
    return `${text}…\n[cut: ${more} shows more]`;
  } catch (error) {
    // One missing text must not hide the other messages; reading this one says what is wrong.
    if (!StateCorruptError.is(error)) throw error;
    return "[a long text of this message is missing or damaged]";
  }
}

function within({ before, after }: Pick<OverviewRequest, "before" | "after">): string {
  const from = after === undefined ? "" : ` after position ${after}`;
  return before === undefined ? from : `${from} before position ${before}`;
}
