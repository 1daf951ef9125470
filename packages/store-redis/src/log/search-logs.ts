import { type LogRecord, type Slot, StateCorruptError } from "@holdfast/core";
import {
  checkLimit,
  checkLogQuery,
  isSearched,
  type LogFinds,
  type LogHit,
  type LogQuery,
  literalPattern,
  messageProblem,
  searchableText,
  snippetAround,
} from "@holdfast/core/store-kit";
import type { RedisConnection } from "../connection/redis-connection.js";
import { type BlobPart, readBlobPart } from "./blobs.js";
import type { LogIndex } from "./log-index.js";
import { SEARCH_LIMITS, SearchBudget, type SearchLimits } from "./search-budget.js";
import { readStored, type StoredRecord, storedRecords } from "./stored-records.js";

/** Everything a search reads from. */
export interface SearchSource {
  readonly connection: RedisConnection;
  readonly keyPrefix: string;
  readonly index: LogIndex;
}

/**
 * Searches the sessions of a user, most recently updated first, each from its newest record back.
 *
 * A search that reaches its limits returns where to continue. It always reads at least one record or session, so that
 * continuing terminates. When the session to continue from has left the index, it starts over.
 *
 * @param limits - the usual ones; lower in tests
 * @throws InvalidInputError | InvalidIdError, the reason of the query's signal, StoreUnavailableError
 */
export async function searchLogs(
  source: SearchSource,
  query: LogQuery,
  limits: SearchLimits = SEARCH_LIMITS,
): Promise<LogFinds> {
  checkLogQuery(query);
  const limit = checkLimit(query.limit, 10);
  query.signal?.throwIfAborted();
  const { connection, keyPrefix, index } = source;
  const { agentId, userId, sessionId, text, before } = query;
  const budget = new SearchBudget(limits, query.signal);
  const hits: LogHit[] = [];
  const isDone = (): boolean => hits.length === limit || budget.isSpent;
  const mayMatch = storedPattern(text);
  const searchIn = (slot: Slot): Promise<SearchedSession> => {
    const end = slot.sessionId === before?.sessionId ? before.seq : undefined;
    const search = { connection, keyPrefix, slot, text, mayMatch, budget };
    return searchSession(search, hits, isDone, end);
  };
  if (sessionId !== undefined) {
    const { lastSeq } = await searchIn({ agentId, userId, sessionId });
    return lastSeq > 0 && isDone() ? { hits, next: { sessionId, seq: lastSeq } } : { hits };
  }
  // `checkLogQuery` requires a user when there is no session.
  const owner = userId ?? "";
  for await (const entry of index.sessions(agentId, owner, before?.sessionId)) {
    const { lastSeq, isGone } = await searchIn({ agentId, userId: owner, sessionId: entry.member });
    // Nothing was left of the session that the search continues from: it must not stop there again.
    if (lastSeq === 0 && !isGone) continue;
    await budget.spend(isGone ? 1 : 0, 0);
    // A stale entry stays when the search stops there, so that the next search finds it.
    if (isDone()) return { hits, next: { sessionId: entry.member, seq: lastSeq } };
    if (isGone) await index.drop(agentId, owner, entry);
  }
  return { hits };
}

/** Progress of the search in one session. */
interface SearchedSession {
  /** Seq of the oldest record read; 0 when there was none. */
  readonly lastSeq: number;
  /** True when the session has no records at all. */
  readonly isGone: boolean;
}

/** Adds matches to `hits` until `isDone`, in records before `end`. */
async function searchSession(
  search: SessionSearch,
  hits: LogHit[],
  isDone: () => boolean,
  end: number | undefined,
): Promise<SearchedSession> {
  const { connection, keyPrefix, slot, budget } = search;
  const to = end === undefined ? Number.MAX_SAFE_INTEGER : end - 1;
  const range = { from: 0, to, newestFirst: true, limit: Infinity };
  let lastSeq = 0;
  for await (const batch of storedRecords(connection, keyPrefix, slot, range))
    for (const stored of batch) {
      lastSeq = stored.seq;
      const match = await searchRecord(search, stored);
      if (match !== null) hits.push({ slot: { ...slot }, ...match });
      await budget.spend(1, stored.text.length);
      if (isDone()) return { lastSeq, isGone: false };
    }
  return { lastSeq, isGone: lastSeq === 0 && end === undefined };
}

/** Parameters of the search in one session. */
interface SessionSearch {
  readonly connection: RedisConnection;
  readonly keyPrefix: string;
  readonly slot: Slot;
  readonly text: string;
  /** Tells whether a record may have the text, before it is parsed. */
  readonly mayMatch: (stored: string) => boolean;
  readonly budget: SearchBudget;
}

/**
 * Returns a test for stored records that may have a text: all but those whose JSON has not a word of letters and digits, which
 * JSON leaves as they are, nor a reference to a long text. Parsing takes many times as long.
 */
function storedPattern(text: string): (stored: string) => boolean {
  if (!/^[a-z0-9]+$/i.test(text)) return () => true;
  const pattern = literalPattern(text);
  return (stored) => pattern.test(stored) || stored.includes('"blobs":');
}

/** A record that contains the text, and the text around the match. */
interface RecordMatch {
  readonly record: LogRecord;
  readonly snippet: string;
}

/** Characters carried over to the next part, besides a match that may be split, so that a snippet has context. */
const CONTEXT_CHARS = 120;

/**
 * Searches a record and its long texts; null when the text is not there, or when something is damaged: damage must not hide
 * other records, and reading the record reports it.
 */
async function searchRecord(
  search: SessionSearch,
  stored: StoredRecord,
): Promise<RecordMatch | null> {
  if (!search.mayMatch(stored.text)) return null;
  try {
    return await matchIn(search, readStored(search.slot, stored));
  } catch (error) {
    if (StateCorruptError.is(error)) return null;
    throw error;
  }
}

async function matchIn(search: SessionSearch, record: LogRecord): Promise<RecordMatch | null> {
  if (record.message === undefined || messageProblem(record.message) !== null) return null;
  let snippet = snippetAround(searchableText(record.message), search.text);
  for (const { path, ref } of record.blobs ?? [])
    if (isSearched(path)) snippet ??= await searchBlob(search, ref);
  return snippet === null ? null : { record, snippet };
}

/** Returns the text around the first match in a long text, which is read part by part. */
async function searchBlob(search: SessionSearch, ref: string): Promise<string | null> {
  const { connection, keyPrefix, slot, text: query, budget } = search;
  let text = "";
  for (let at: number | undefined = 0; at !== undefined; ) {
    const part: BlobPart | null = await readBlobPart(connection, keyPrefix, slot, ref, at);
    if (part === null) return null;
    text = text.slice(-(query.length + CONTEXT_CHARS)) + part.text;
    const snippet = snippetAround(text, query);
    if (snippet !== null) return snippet;
    await budget.spend(0, part.text.length);
    at = part.next;
  }
  return null;
}
