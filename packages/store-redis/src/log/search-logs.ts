import {
  checkLimit,
  checkLogQuery,
  isSearched,
  type LogFinds,
  type LogHit,
  type LogQuery,
  type LogRecord,
  messageProblem,
  type Slot,
  StateCorruptError,
  searchableText,
  snippetAround,
} from "@holdfast/core";
import type { RedisConnection } from "../connection/redis-connection.js";
import { type BlobPart, readBlobPart } from "./blobs.js";
import type { LogIndex } from "./log-index.js";
import { SEARCH_LIMITS, SearchBudget, type SearchLimits } from "./search-budget.js";
import { readStored, type StoredRecord, storedRecords } from "./stored-records.js";

/** What a search works on. */
export interface SearchSource {
  readonly connection: RedisConnection;
  readonly keyPrefix: string;
  readonly index: LogIndex;
}

/**
 * Searches the sessions of a user, the one written to last first, each from its newest record back.
 *
 * A search that comes to its limits says where to go on. It looks at one record or session first, whatever they are, so that
 * going on ends. Where the session to go on from has left the index, it begins again.
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
  const searchIn = (slot: Slot): Promise<SearchedSession> => {
    const end = slot.sessionId === before?.sessionId ? before.seq : undefined;
    return searchSession({ connection, keyPrefix, slot, text, budget }, hits, isDone, end);
  };
  if (sessionId !== undefined) {
    const { lastSeq } = await searchIn({ agentId, userId, sessionId });
    return lastSeq > 0 && isDone() ? { hits, next: { sessionId, seq: lastSeq } } : { hits };
  }
  // Without a session there is a user: `checkLogQuery` saw to that.
  const owner = userId ?? "";
  for await (const entry of index.sessions(agentId, owner, before?.sessionId)) {
    const { lastSeq, isGone } = await searchIn({ agentId, userId: owner, sessionId: entry.member });
    // Of the one that the search goes on from nothing was left: it must not stop there again.
    if (lastSeq === 0 && !isGone) continue;
    await budget.spend(isGone ? 1 : 0, 0);
    // An entry that stands for nothing stays when the search stops there, to be found again.
    if (isDone()) return { hits, next: { sessionId: entry.member, seq: lastSeq } };
    if (isGone) await index.drop(agentId, owner, entry);
  }
  return { hits };
}

/** How far a search of one session came. */
interface SearchedSession {
  /** The oldest record it looked at; 0 when there was none. */
  readonly lastSeq: number;
  /** It has no records at all. */
  readonly isGone: boolean;
}

/** Adds what it finds to `hits` until `isDone`, in records before `end`. */
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

/** What a search in one session goes by. */
interface SessionSearch {
  readonly connection: RedisConnection;
  readonly keyPrefix: string;
  readonly slot: Slot;
  readonly text: string;
  readonly budget: SearchBudget;
}

/** A record that holds the text, and what is around it. */
interface RecordMatch {
  readonly record: LogRecord;
  readonly snippet: string;
}

/** Kept of a part in front of the next one, besides a match that the cut may split, so that a snippet shows what is around. */
const CONTEXT_CHARS = 120;

/**
 * Looks for the text in a record and in all of its long texts; null when it is not there, or when something is damaged: that
 * must not hide other records, and reading it tells what is wrong.
 */
async function searchRecord(
  search: SessionSearch,
  stored: StoredRecord,
): Promise<RecordMatch | null> {
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

/** The text around the first match in a long text, which is looked through part by part. */
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
