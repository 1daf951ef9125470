import { type EntryOrder, type IndexEntry, newestFirst } from "./session-index.js";

/** Merges the entries of several indexes, which come in the same order; reads from each index only what is taken. */
export async function* mergeEntries(
  sources: readonly AsyncGenerator<IndexEntry, void, void>[],
  { compare }: EntryOrder = newestFirst,
): AsyncGenerator<IndexEntry, void, void> {
  const heads = await Promise.all(sources.map((source) => headOf(source)));
  const waiting = heads.filter((head) => head !== null);
  waiting.sort((a, b) => compare(a.entry, b.entry));
  for (let first = waiting.shift(); first !== undefined; first = waiting.shift()) {
    yield first.entry;
    const next = await headOf(first.source);
    if (next !== null) waiting.splice(placeOf(next, waiting, compare), 0, next);
  }
}

interface Head {
  readonly entry: IndexEntry;
  readonly source: AsyncGenerator<IndexEntry, void, void>;
}

async function headOf(source: Head["source"]): Promise<Head | null> {
  const next = await source.next();
  return next.done ? null : { entry: next.value, source };
}

/** Index at which `head` keeps the sorted list in order. */
function placeOf(head: Head, among: readonly Head[], compare: EntryOrder["compare"]): number {
  let low = 0;
  let high = among.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = among[middle];
    if (other !== undefined && compare(other.entry, head.entry) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
