import type { LogFinds, LogHit, LogPosition, LogQuery } from "@holdfast/core/store-kit";
import { openDatabase } from "../../src/connection/open-database.js";
import { type SearchLimits, searchLimits } from "../../src/log/search-budget.js";
import { searchLog } from "../../src/log/search-log.js";
import { readOptions } from "../../src/options.js";
import type { testPool } from "./fresh-tables.js";

/** A search of a log's tables with limits of its own. */
export type LimitedSearch = (query: LogQuery, limits?: Partial<SearchLimits>) => Promise<LogFinds>;

export function limitedSearch(
  pool: ReturnType<typeof testPool>,
  tablePrefix: string,
): LimitedSearch {
  const options = { pool, tablePrefix };
  const database = openDatabase(readOptions("a test", options, ["pool", "tablePrefix"]));
  const usual = searchLimits(database.commandTimeoutMs);
  return (query, limits = {}) => searchLog(database, query, { ...usual, ...limits });
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
