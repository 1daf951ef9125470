import { InvalidInputError } from "@holdfast/core";
import type { IndexEntry } from "./session-index.js";

/** Sessions looked at side by side. */
export const PARALLEL = 100;

/** Entries that stand for nothing which one page may pass over before it ends short. */
const PASSED_OVER = 1_000;

/** One page of what entries of an index stand for; `cursor` is absent on the last one. */
export interface EntryPage<T> {
  readonly items: readonly T[];
  readonly cursor?: string | undefined;
}

/**
 * Takes entries until `limit` of them were found to stand for something.
 *
 * @param look - what an entry stands for; null when it is to be passed over
 */
export async function entryPage<T>(
  entries: AsyncGenerator<IndexEntry, void, void>,
  limit: number,
  look: (entry: IndexEntry) => Promise<T | null>,
): Promise<EntryPage<T>> {
  const items: T[] = [];
  let last: IndexEntry | undefined;
  for (let room = limit + PASSED_OVER; room > 0 && items.length < limit; ) {
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

/** Where a listing goes on: behind this entry. */
function writeCursor({ score, member }: IndexEntry): string {
  return Buffer.from(JSON.stringify([score, member]), "utf8").toString("base64url");
}

/**
 * The inverse of {@link writeCursor}.
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
    // Falls through to the one error for every cursor that is none.
  }
  throw new InvalidInputError("the cursor is not one of this store's listings");
}
