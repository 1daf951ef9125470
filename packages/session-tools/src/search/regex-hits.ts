import {
  type ConversationLog,
  InvalidInputError,
  type Slot,
  StateCorruptError,
} from "@holdfast/core";
import type { YieldingClock } from "@holdfast/core/plugin-kit";
import type { SessionScope } from "../caller.js";
import { isMessage, type MessageRecord, records } from "../log-records.js";
import { BlobReader } from "../render/blob-reader.js";
import { renderMessage } from "../render/render-message.js";
import { LineSearch } from "./line-search.js";
import { locateLine } from "./locate-line.js";
import type { Search, SearchPosition, SearchStep } from "./search.js";
import { snippetAt } from "./snippet-at.js";

/**
 * Searches the records, newest first, as the log does for literal text.
 *
 * @throws InvalidInputError for an expression that is invalid or too expensive
 */
export async function* regexHits(search: Search): AsyncGenerator<SearchStep> {
  const { log, scope, from, clock } = search;
  const lines = new LineSearch(search.query);
  for await (const slot of slotsFrom(log, scope, from, clock)) {
    const isFirst = slot.sessionId === from?.sessionId;
    // A record that was searched in part is continued where the search stopped.
    const offset = isFirst ? from?.offset : undefined;
    const before = !isFirst ? undefined : offset === undefined ? from?.seq : (from?.seq ?? 0) + 1;
    for await (const record of records(log, slot, { before }, clock)) {
      const start = offset !== undefined && record.seq === from?.seq ? offset : 0;
      yield isMessage(record)
        ? await findIn(search, lines, slot, record, start)
        : { position: { sessionId: slot.sessionId, seq: record.seq } };
    }
  }
}

async function findIn(
  { log, remarks, clock }: Search,
  lines: LineSearch,
  slot: Slot,
  record: MessageRecord,
  offset: number,
): Promise<SearchStep> {
  const position = { sessionId: slot.sessionId, seq: record.seq };
  const { body } = renderMessage(record);
  const blobs = new BlobReader(log, slot, clock);
  try {
    const found = await locateLine(blobs, body, lines, offset);
    if (found === null) return { position };
    if ("stoppedAt" in found) return { position: { ...position, offset: found.stoppedAt } };
    const remark = await remarks.remark(slot, record);
    if (remark === null) return { position };
    return { position, hit: { slot, record, remark, ...(await snippetAt(blobs, body, found)) } };
  } catch (error) {
    // One damaged text must not hide the others; reading it says what is wrong.
    if (!StateCorruptError.is(error)) throw error;
    return { position };
  }
}

/**
 * Yields the sessions to search, most recently updated first, starting with the one in which a search stopped.
 *
 * @throws InvalidInputError when that session is gone
 */
async function* slotsFrom(
  log: Pick<ConversationLog, "sessions">,
  { agentId, userId, sessionId }: SessionScope,
  from: SearchPosition | undefined,
  clock: YieldingClock,
): AsyncGenerator<Slot> {
  if (sessionId !== undefined) {
    yield { agentId, userId, sessionId };
    return;
  }
  // A scope without a session has a user.
  const query = { agentId, userId: userId ?? "" };
  let isReached = from === undefined;
  let cursor: string | undefined;
  do {
    await clock.tick();
    const page = await log.sessions({ ...query, cursor });
    for (const { slot } of page.sessions) {
      isReached ||= slot.sessionId === from?.sessionId;
      if (isReached) yield slot;
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  if (!isReached)
    throw new InvalidInputError("the session of the cursor is gone; search again without cursor");
}
