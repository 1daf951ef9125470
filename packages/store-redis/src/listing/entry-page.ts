import { InvalidInputError } from "@holdfast/core";
import type { IndexEntry } from "./session-index.js";

/** Sessions looked up in parallel. */
export const PARALLEL = 100;

/** Entries that one page may skip before it ends short: stale ones, and those that the query does not select. */
const MAX_SKIPPED = 1_000;

/** One page of items looked up from entries of an index. */
export interface EntryPage<T, E extends IndexEntry> {
  readonly items: readonly T[];
  /** Entry behind which the listing continues; absent on the last page. */
  readonly last?: E | undefined;
}

/**
 * Takes entries until `limit` of them led to an item. Looks up more at once the more are skipped, so that a page takes a few
 * dozen round trips at most.
 *
 * @param look - looks up the item of an entry; null skips the entry
 */
export async function entryPage<T, E extends IndexEntry>(
  entries: AsyncGenerator<E, void, void>,
  limit: number,
  look: (entry: E) => Promise<T | null>,
): Promise<EntryPage<T, E>> {
  const items: T[] = [];
  let last: E | undefined;
  let left = 0;
  let count = 0;
  for (let room = limit + MAX_SKIPPED; room > 0 && items.length < limit; ) {
    count = Math.min(Math.max(limit - items.length, 2 * count), PARALLEL);
    const seen = await takeEntries(entries, count);
    if (seen.length === 0) return { items };
    const found = await Promise.all(seen.map(look));
    left = seen.length;
    for (let at = 0; left > 0 && items.length < limit; at++, left--) {
      const item = found[at] ?? null;
      if (item !== null) items.push(item);
      last = seen[at];
    }
    room -= seen.length;
  }
  const isLast = left === 0 && (await takeEntries(entries, 1)).length === 0;
  return isLast ? { items } : { items, last };
}

/** The next `count` entries, fewer at the end. */
async function takeEntries<E>(entries: AsyncGenerator<E, void, void>, count: number): Promise<E[]> {
  const taken: E[] = [];
  while (taken.length < count) {
    const next = await entries.next();
    if (next.done) break;
    taken.push(next.value);
  }
  return taken;
}

/** Encodes the entry behind which a listing continues, or more that it needs. */
export function writeCursor({ score, member }: IndexEntry, ...more: readonly unknown[]): string {
  return Buffer.from(JSON.stringify([score, member, ...more]), "utf8").toString("base64url");
}

/**
 * Decodes a cursor of {@link writeCursor}.
 *
 * @param read - reads what follows the entry; undefined refuses it
 * @throws InvalidInputError
 */
export function readCursor<T>(
  cursor: string,
  read: (entry: IndexEntry, more: readonly unknown[]) => T | undefined,
): T {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    // Falls through to the one error for every invalid cursor.
  }
  const [score, member, ...more] = Array.isArray(value) ? value : [];
  const isEntry = typeof score === "number" && typeof member === "string";
  const result = isEntry ? read({ score, member }, more) : undefined;
  if (result !== undefined) return result;
  throw new InvalidInputError(
    "the cursor is not one of this store's listings; leave the cursor out to begin anew",
  );
}
