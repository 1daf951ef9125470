import { setImmediate } from "node:timers/promises";
import { InvalidInputError } from "../errors/errors.js";
import { checkLogQuery, searchableText, snippetAround } from "../log/search-text.js";
import { withBlobs } from "../log/with-blobs.js";
import type { AgentStateStore } from "../ports/agent-state-store.js";
import type { ConversationLog, LogHit, LogQuery, LogRecord } from "../ports/conversation-log.js";
import type { Slot } from "../slot/slot.js";
import { checkLimit } from "../store/check-limit.js";

/** A search looks no further than this, whichever comes first. */
const MAX_RECORDS = 20_000;
const MAX_MS = 5_000;
const PAGE = 100;

/**
 * Searches a log whose backend cannot read it: goes through the sessions, the one saved last first, and through the
 * records of each from the newest on.
 *
 * @param log - returns records in the clear
 * @throws InvalidInputError also for a search without a session where nobody knows the user's sessions
 */
export async function searchSealedLog(
  log: ConversationLog,
  sessions: Pick<AgentStateStore, "list"> | undefined,
  query: LogQuery,
): Promise<LogHit[]> {
  checkLogQuery(query);
  const { text, signal } = query;
  const limit = checkLimit(query.limit, 10);
  const end = performance.now() + MAX_MS;
  const hits: LogHit[] = [];
  let seen = 0;
  signal?.throwIfAborted();
  for await (const slot of slotsOf(sessions, query)) {
    for await (const record of newestFirst(log, slot, signal)) {
      const snippet = await snippetOf(log, slot, record, text);
      signal?.throwIfAborted();
      if (snippet !== null) hits.push({ slot: { ...slot }, record, snippet });
      if (hits.length === limit || ++seen === MAX_RECORDS || performance.now() > end) return hits;
    }
    if (performance.now() > end) return hits;
  }
  return hits;
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

async function* slotsOf(
  sessions: Pick<AgentStateStore, "list"> | undefined,
  { agentId, userId, sessionId }: LogQuery,
): AsyncGenerator<Slot> {
  if (sessionId !== undefined) {
    yield { agentId, userId, sessionId };
    return;
  }
  if (sessions === undefined)
    throw new InvalidInputError(
      "an encrypted log that was wrapped without its state store does not know a user's sessions: name the sessionId to search in, or pass both to withEncryption",
    );
  let cursor: string | undefined;
  do {
    const page = await sessions.list({ agentId, userId, cursor });
    for (const { slot } of page.slots) yield slot;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

async function* newestFirst(
  log: ConversationLog,
  slot: Slot,
  signal: AbortSignal | undefined,
): AsyncGenerator<LogRecord> {
  let before: number | undefined;
  for (;;) {
    // Decrypting takes its time, and a log in memory never lets others run.
    await setImmediate();
    signal?.throwIfAborted();
    const page = await log.read(slot, { before, limit: PAGE });
    yield* [...page].reverse();
    if (page.length < PAGE) return;
    before = page[0]?.seq;
  }
}
