import { type LogRecord, type Slot, StateCorruptError } from "@holdfast/core";
import {
  isSearched,
  type LogHit,
  messageProblem,
  searchableText,
  snippetAround,
  withBlobs,
} from "@holdfast/core/store-kit";
import type { Database } from "../connection/database.js";
import { readBlob } from "./log-blobs.js";
import { recordIn } from "./read-log.js";
import type { SearchBudget } from "./search-budget.js";
import type { CandidateRow } from "./search-scan.js";

/** The hit that a row is, or null. What is damaged is passed over: `read` says so, a search finds the rest. */
export async function hitIn(
  database: Database,
  { session: { slot }, row }: CandidateRow,
  text: string,
  budget: SearchBudget,
): Promise<LogHit | null> {
  try {
    const record = recordIn(slot, row);
    if (record.message === undefined || messageProblem(record.message) !== null) return null;
    const { message } = await withTexts(database, slot, record, budget);
    const snippet = message === undefined ? null : snippetAround(searchableText(message), text);
    return snippet === null ? null : { slot: { ...slot }, record, snippet };
  } catch (error) {
    if (StateCorruptError.is(error)) return null;
    throw error;
  }
}

/** The record with those of its long texts that a search looks at; without them where one is missing. */
async function withTexts(
  database: Database,
  slot: Slot,
  record: LogRecord,
  budget: SearchBudget,
): Promise<LogRecord> {
  const references = record.blobs?.filter(({ path }) => isSearched(path)) ?? [];
  if (references.length === 0) return record;
  for (const { bytes } of references) budget.spendBytes(bytes);
  const log = { readBlob: (_: Slot, ref: string) => readBlob(database, slot, ref) };
  try {
    return await withBlobs(log, slot, { ...record, blobs: references });
  } catch (error) {
    if (StateCorruptError.is(error)) return record;
    throw error;
  }
}
