import type { LogFinds, LogHit, LogPosition, LogQuery } from "@holdfast/core/store-kit";
import type { RedisConnection } from "../../src/connection/redis-connection.js";
import { LogIndex } from "../../src/log/log-index.js";
import { SEARCH_LIMITS, type SearchLimits } from "../../src/log/search-budget.js";
import { searchLogs } from "../../src/log/search-logs.js";

/** A search of the logs below a prefix, with limits of its own. */
export type LimitedSearch = (query: LogQuery, limits?: Partial<SearchLimits>) => Promise<LogFinds>;

export function limitedSearch(connection: RedisConnection, keyPrefix: string): LimitedSearch {
  const index = new LogIndex(connection, { keyPrefix, ttlMs: undefined });
  return (query, limits = {}) =>
    searchLogs({ connection, keyPrefix, index }, query, { ...SEARCH_LIMITS, ...limits });
}

/** What a search finds that goes on as long as it is told where; fails when that has no end. */
export async function searchEverything(
  search: (query: LogQuery) => Promise<LogFinds>,
  query: LogQuery,
  maxPages = 1_000,
): Promise<{ readonly hits: LogHit[]; readonly pages: number }> {
  const hits: LogHit[] = [];
  let before: LogPosition | undefined;
  for (let pages = 1; pages <= maxPages; pages++) {
    const found = await search({ ...query, before });
    hits.push(...found.hits);
    if (found.next === undefined) return { hits, pages };
    before = found.next;
  }
  throw new Error(`the search did not end within ${maxPages} pages`);
}
