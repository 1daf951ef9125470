import { InvalidInputError } from "@holdfast/core";
import type { IndexEntry } from "./session-index.js";

/** Sessions looked up in parallel. */
export const PARALLEL = 100;

/** Stale entries, whose session does not exist, that one page may skip before it ends short. */
const MAX_SKIPPED = 1_000;

/** One page of items looked up from entries of an index; `cursor` is absent on the last page. */
export interface EntryPage<T> {
  readonly items: readonly T[];
  readonly cursor?: string | undefined;
}

/**
 * Takes entries until `limit` of them led to an item.
 *
 * @param look - looks up the item of an entry; null skips the entry
 */
export async function entryPage<T>(
  entries: AsyncGenerator<IndexEntry, void, void>,
  limit: number,
  look: (entry: IndexEntry) => Promise<T | null>,
): Promise<EntryPage<T>> {
  const items: T[] = [];
  let last: IndexEntry | undefined;
  for (let room = limit + MAX_SKIPPED; room > 0 && items.length < limit; ) {
    const seen = await takeEntries(entries, Math.min(limit - items.length, PARALLEL));
    for (const item of await Promise.all(seen.map(look))) if (item !== null) items.push(item);
    if (seen.length === 0) return { items };
    last = seen.at(-1);
    room -= seen.length;
  }
  const isLast = (await takeEntries(entries, 1)).length === 0;
  return isLast || last === undefined ? { items } : { items, cursor: writeCursor(last) };
}

/** The next `count` entries, fewer at the end. */
async function takeEntries(
  entries: AsyncGenerator<IndexEntry, void, void>,
  count: number,
): Promise<IndexEntry[]> {
  const taken: IndexEntry[] = [];
  while (taken.length < count) {
    const next = await entries.next();
    if (next.done) break;
    taken.push(next.value);
  }
  return taken;
}

/** Encodes the entry behind which a listing continues. */
function writeCursor({ score, member }: IndexEntry): string {
  return Buffer.from(JSON.stringify([score, member]), "utf8").toString("base64url");
}

/**
 * Decodes a cursor of {@link entryPage}.
 *
 * @throws InvalidInputError
 */
export function readCursor(cursor: string): IndexEntry {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    if (Array.isArray(value) && value.length === 2) {
      const [score, member]: unknown[] = value;
      if (typeof score === "number" && typeof member === "string") return { score, member };
    }
  } catch {
    // Falls through to the one error for every invalid cursor.
  }
  throw new InvalidInputError("the cursor is not one of this store's listings");
}
