import { isMessage } from "../message-record.js";
import { records } from "../records.js";
import { describeRecord } from "./describe-record.js";
import { historyCall, type Reading } from "./reading.js";

/** Which messages to show. */
export interface OverviewRequest {
  readonly lastN: number;
  readonly before?: number | undefined;
  readonly after?: number | undefined;
  readonly includeDiscarded?: boolean | undefined;
}

/** How many messages there are on a page unless the model says otherwise. */
export const DEFAULT_MESSAGES = 20;

/** Room for what is said around the messages, without the ids in it. */
const AROUND_CHARS = 300;

/** Messages and marks of a session, oldest first, long ones cut, and how to see more. */
export async function overview(reading: Reading, request: OverviewRequest): Promise<string> {
  const { lastN, before, after, includeDiscarded } = request;
  const more = (range: { before?: number | undefined; after?: number | undefined }): string => {
    const args = { ...range, lastN: lastN === DEFAULT_MESSAGES ? undefined : lastN };
    return historyCall(reading, args, includeDiscarded);
  };
  const session = `session ${JSON.stringify(reading.slot.sessionId)}`;
  const around = AROUND_CHARS + session.length + 2 * more({}).length;
  const page = await collect(reading, request, reading.settings.maxPageChars - around);
  const { items, messages, stopped, reached } = page;
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

/** What fits on a page. */
interface Collected {
  /** Oldest first. */
  readonly items: readonly string[];
  readonly messages: number;
  /** Why there is more; absent: there is not. */
  readonly stopped: "full" | "time" | undefined;
  /** The last record that is done with. */
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
      // One always fits, so that paging gets on.
      if (messages === lastN || (items.length > 0 && room < 0)) return page("full");
      items.push(item);
      if (isMessage(record)) messages++;
    }
    reached = record.seq;
    if (clock.isUp) return page("time");
  }
  return page();
}

function within({ before, after }: Pick<OverviewRequest, "before" | "after">): string {
  const from = after === undefined ? "" : ` after position ${after}`;
  return before === undefined ? from : `${from} before position ${before}`;
}
