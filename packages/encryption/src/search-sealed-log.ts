import { setImmediate } from "node:timers/promises";
import type { ConversationLog, LogRecord, Slot } from "@holdfast/core";
import type { LogFinds, LogHit, LogQuery } from "@holdfast/core/store-kit";
import {
  checkLimit,
  checkLogQuery,
  searchableText,
  snippetAround,
  withBlobs,
} from "@holdfast/core/store-kit";

/** Limits of one search. */
const MAX_RECORDS = 20_000;
const MAX_MS = 5_000;
const PAGE = 100;

/**
 * Searches a log whose backend cannot read it, by reading the sessions, most recently updated first, and their records,
 * newest first.
 *
 * @param log - log that returns decrypted records
 * @throws InvalidInputError | InvalidIdError, the reason of the query's signal
 */
export async function searchSealedLog(log: ConversationLog, query: LogQuery): Promise<LogFinds> {
  checkLogQuery(query);
  const { text, signal } = query;
  const limit = checkLimit(query.limit, 10);
  const end = performance.now() + MAX_MS;
  const hits: LogHit[] = [];
  let seen = 0;
  signal?.throwIfAborted();
  for await (const { slot, before } of slotsOf(log, query))
    for await (const record of newestFirst(log, slot, before, signal)) {
      const snippet = await snippetOf(log, slot, record, text);
      signal?.throwIfAborted();
      if (snippet !== null) hits.push({ slot: { ...slot }, record, snippet });
      if (hits.length === limit || ++seen === MAX_RECORDS || performance.now() > end)
        return { hits, next: { sessionId: slot.sessionId, seq: record.seq } };
    }
  return { hits };
}

async function snippetOf(
  log: ConversationLog,
  slot: Slot,
  record: LogRecord,
  text: string,
): Promise<string | null> {
  const { message } = await withBlobs(log, slot, record);
  return message === undefined ? null : snippetAround(searchableText(message), text);
}

/** Yields the sessions to search, and for the first one the seq to start before. */
async function* slotsOf(
  log: ConversationLog,
  { agentId, userId, sessionId, before }: LogQuery,
): AsyncGenerator<{ readonly slot: Slot; readonly before: number | undefined }> {
  if (sessionId !== undefined) {
    const from = before?.sessionId === sessionId ? before.seq : undefined;
    yield { slot: { agentId, userId, sessionId }, before: from };
    return;
  }
  const passed: Slot[] = [];
  let isReached = before === undefined;
  let cursor: string | undefined;
  do {
    // Without a session there is a user: `checkLogQuery` checked that.
    const page = await log.sessions({ agentId, userId: userId ?? "", cursor });
    for (const { slot } of page.sessions) {
      const isFirst = slot.sessionId === before?.sessionId;
      isReached ||= isFirst;
      if (isReached) yield { slot, before: isFirst ? before?.seq : undefined };
      else passed.push(slot);
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  // The session to continue from was deleted meanwhile: start over.
  if (!isReached) for (const slot of passed) yield { slot, before: undefined };
}

async function* newestFirst(
  log: ConversationLog,
  slot: Slot,
  from: number | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<LogRecord> {
  let before = from;
  for (;;) {
    // Decrypting takes time, and a log in memory never yields by itself.
    await setImmediate();
    signal?.throwIfAborted();
    const page = await log.read(slot, { before, limit: PAGE });
    yield* [...page].reverse();
    if (page.length < PAGE) return;
    before = page[0]?.seq;
  }
}
