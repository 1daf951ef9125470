import { createReadStream } from "node:fs";
import { type LogRecord, StateCorruptError } from "@holdfast/core";
import {
  type BlobReference,
  isSearched,
  searchableText,
  snippetAround,
  withBlobs,
} from "@holdfast/core/store-kit";
import { isMissing } from "../io/io-error.js";
import type { ReportSink } from "../report.js";
import { blobFile, readBlob } from "./blob-files.js";
import type { LogPlace } from "./log-place.js";
import type { TimeSlice } from "./time-slice.js";

/** Longer texts are looked through in parts: a whole one would keep everybody waiting. */
const WHOLE_BYTES = 1_048_576;
const PART_BYTES = 262_144;
/** Kept in front of a part, besides a match that it may cut, so that a snippet shows what is around. */
const CONTEXT_CHARS = 120;

/** What a search in one log goes by. */
export interface LogSearch {
  readonly place: LogPlace;
  readonly text: string;
  /** Whether a long text may match: its file was looked through. */
  readonly mayHold: (ref: string) => boolean;
  readonly slice: TimeSlice;
  readonly report: ReportSink;
}

/** The text around the first match in a message, its long texts included; null when there is none. */
export async function snippetIn(search: LogSearch, record: LogRecord): Promise<string | null> {
  const references = record.blobs?.filter(({ path }) => isSearched(path)) ?? [];
  const short = references.filter(({ bytes }) => bytes <= WHOLE_BYTES);
  const { message } = short.length === 0 ? record : await withTexts(search, record, short);
  const snippet = message && snippetAround(searchableText(message), search.text);
  if (snippet) return snippet;
  for (const { ref, bytes } of references) {
    if (bytes <= WHOLE_BYTES || !search.mayHold(ref)) continue;
    const found = await snippetInParts(search, ref);
    if (found !== null) return found;
  }
  return null;
}

/** The record with these of its texts; without them, and with a report, where they cannot be had. */
async function withTexts(
  { place, report }: LogSearch,
  record: LogRecord,
  references: readonly BlobReference[],
): Promise<LogRecord> {
  try {
    const log = { readBlob: (_: unknown, ref: string) => readBlob(place, ref) };
    return await withBlobs(log, place.slot, { ...record, blobs: references });
  } catch (error) {
    if (!StateCorruptError.is(error)) throw error;
    report({
      kind: "entry_skipped",
      message: `a search passed over a long text: ${error.message}`,
      cause: error,
    });
    return record;
  }
}

async function snippetInParts(
  { place, text: query, slice, report }: LogSearch,
  ref: string,
): Promise<string | null> {
  const file = blobFile(place, ref);
  if (file === null) return null;
  let text = "";
  try {
    for await (const part of createReadStream(file, {
      encoding: "utf8",
      highWaterMark: PART_BYTES,
    })) {
      text = text.slice(-(query.length + CONTEXT_CHARS)) + part;
      const snippet = snippetAround(text, query);
      if (snippet !== null) return snippet;
      if (slice.isOver) await slice.next();
    }
  } catch (error) {
    if (!isMissing(error)) throw error;
    report({
      kind: "entry_skipped",
      message: `a search passed over a long text: ${ref} in ${place.label} is missing`,
    });
  }
  return null;
}
