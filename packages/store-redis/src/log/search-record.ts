import { type LogRecord, type Slot, StateCorruptError } from "@holdfast/core";
import {
  isSearched,
  messageProblem,
  searchableText,
  snippetAround,
} from "@holdfast/core/store-kit";
import type { RedisConnection } from "../connection/redis-connection.js";
import { type BlobPart, readBlobPart } from "./read-blob.js";
import type { SearchBudget } from "./search-budget.js";
import { readStored, type StoredRecord } from "./stored-records.js";

/** What a search in one session goes by. */
export interface RecordSearch {
  readonly connection: RedisConnection;
  readonly keyPrefix: string;
  readonly slot: Slot;
  readonly text: string;
  readonly budget: SearchBudget;
}

/** A record that holds the text, and what is around it. */
export interface RecordMatch {
  readonly record: LogRecord;
  readonly snippet: string;
}

/** Kept of a part in front of the next one, besides a match that the cut may split, so that a snippet shows what is around. */
const CONTEXT_CHARS = 120;

/**
 * Looks for the text in a record and in all of its long texts; null when it is not there, or when something is damaged: that
 * must not hide other records, and reading it tells what is wrong.
 */
export async function searchRecord(
  search: RecordSearch,
  stored: StoredRecord,
): Promise<RecordMatch | null> {
  try {
    return await matchIn(search, readStored(search.slot, stored));
  } catch (error) {
    if (StateCorruptError.is(error)) return null;
    throw error;
  }
}

async function matchIn(search: RecordSearch, record: LogRecord): Promise<RecordMatch | null> {
  if (record.message === undefined || messageProblem(record.message) !== null) return null;
  let snippet = snippetAround(searchableText(record.message), search.text);
  for (const { path, ref } of record.blobs ?? [])
    if (isSearched(path)) snippet ??= await searchBlob(search, ref);
  return snippet === null ? null : { record, snippet };
}

/** The text around the first match in a long text, which is looked through part by part. */
async function searchBlob(search: RecordSearch, ref: string): Promise<string | null> {
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
