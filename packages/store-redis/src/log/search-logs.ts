import { checkLimit, checkLogQuery, type LogHit, type LogQuery, type Slot } from "@holdfast/core";
import type { RedisConnection } from "../connection/redis-connection.js";
import type { LogIndex } from "./log-index.js";
import { SearchBudget } from "./search-budget.js";
import { type RecordSearch, searchRecord } from "./search-record.js";
import { storedRecords } from "./stored-records.js";

/** What a search works on. */
export interface SearchSource {
  readonly connection: RedisConnection;
  readonly keyPrefix: string;
  readonly index: LogIndex;
}

/**
 * Searches the sessions of a user, the one written to last first, each from its newest record back.
 *
 * It looks at 20,000 records, 64 million characters and for 10 seconds at most, and then ends with what it found.
 *
 * @throws InvalidInputError | InvalidIdError, the reason of the query's signal, StoreUnavailableError
 */
export async function searchLogs(source: SearchSource, query: LogQuery): Promise<LogHit[]> {
  checkLogQuery(query);
  const limit = checkLimit(query.limit, 10);
  query.signal?.throwIfAborted();
  const { connection, keyPrefix } = source;
  const { agentId, userId, sessionId, text } = query;
  const budget = new SearchBudget(query.signal);
  const hits: LogHit[] = [];
  const searchIn = (slot: Slot): Promise<number> =>
    searchSession({ connection, keyPrefix, slot, text, budget }, hits, limit);
  if (sessionId !== undefined) {
    await searchIn({ agentId, userId, sessionId });
    return hits;
  }
  // Without a session there is a user: `checkLogQuery` saw to that.
  const owner = userId ?? "";
  for await (const entry of source.index.sessions(agentId, owner)) {
    if (hits.length === limit || budget.isSpent) break;
    const seen = await searchIn({ agentId, userId: owner, sessionId: entry.member });
    await budget.spend(1, 0);
    if (seen === 0) await source.index.drop(agentId, owner, entry);
  }
  return hits;
}

/** Adds what it finds to `hits`, up to `limit`; resolves to how many records it saw. */
async function searchSession(search: RecordSearch, hits: LogHit[], limit: number): Promise<number> {
  const { connection, keyPrefix, slot, budget } = search;
  const range = { from: 0, to: Number.MAX_SAFE_INTEGER, newestFirst: true, limit: Infinity };
  let seen = 0;
  for await (const batch of storedRecords(connection, keyPrefix, slot, range))
    for (const stored of batch) {
      seen++;
      const match = await searchRecord(search, stored);
      if (match !== null) hits.push({ slot: { ...slot }, ...match });
      await budget.spend(1, stored.text.length);
      if (hits.length === limit || budget.isSpent) return seen;
    }
  return seen;
}
