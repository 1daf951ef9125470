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
import { readRange } from "../io/read-range.js";
import type { ReportSink } from "../report.js";
import { blobFile, readBlob } from "./blob-files.js";
import { MAX_MATCH_BYTES } from "./byte-pattern.js";
import type { LogPlace } from "./log-place.js";
import { withFile } from "./open-log.js";
import type { QueryPatterns } from "./query-patterns.js";
import type { TimeSlice } from "./time-slice.js";

/** Longer blobs are searched in parts: matching against a whole one would block the event loop. */
const WHOLE_BYTES = 1_048_576;
const PART_BYTES = 262_144;
/** Kept in front of a part, besides a match that the parts cut in two, for the context of a snippet. */
const CONTEXT_CHARS = 120;

/** The query, and what a search of records needs besides. */
export interface RecordQuery {
  readonly text: string;
  readonly patterns: QueryPatterns;
  readonly slice: TimeSlice;
  readonly report: ReportSink;
}

/** Searches the text of records of one log, their blobs included. */
export class RecordSearch {
  readonly #place: LogPlace;
  readonly #query: RecordQuery;
  /** Results by `ref`: several records may name one blob. */
  readonly #matches = new Map<string, boolean>();

  constructor(place: LogPlace, query: RecordQuery) {
    this.#place = place;
    this.#query = query;
  }

  /**
   * Returns the text around the first match in a record's message; null when there is none.
   *
   * @param line - the bytes the record was read from
   */
  async snippetIn(record: LogRecord, line: Buffer): Promise<string | null> {
    const { text, patterns } = this.#query;
    const references = record.blobs?.filter(({ path }) => isSearched(path)) ?? [];
    if (patterns.line.indexIn(line) === -1 && !(await this.#anyMatches(references))) return null;
    const short = references.filter(({ bytes }) => bytes <= WHOLE_BYTES);
    const { message } = short.length === 0 ? record : await this.#withTexts(record, short);
    const snippet = message && snippetAround(searchableText(message), text);
    if (snippet) return snippet;
    for (const { ref, bytes } of references) {
      if (bytes <= WHOLE_BYTES || !(await this.#blobMatches(ref))) continue;
      const found = await this.#snippetInParts(ref);
      if (found !== null) return found;
    }
    return null;
  }

  async #anyMatches(references: readonly BlobReference[]): Promise<boolean> {
    for (const { ref } of references) if (await this.#blobMatches(ref)) return true;
    return false;
  }

  async #blobMatches(ref: string): Promise<boolean> {
    let matches = this.#matches.get(ref);
    if (matches === undefined) {
      const file = blobFile(this.#place, ref);
      matches = file !== null && (await this.#fileMatches(file));
      this.#matches.set(ref, matches);
    }
    return matches;
  }

  /** Tells whether the bytes of a blob's file may hold the query; those of a missing file do not. */
  #fileMatches(file: string): Promise<boolean> {
    const { patterns, slice } = this.#query;
    return withFile(
      file,
      async (handle) => {
        for (let from = 0; ; from += WHOLE_BYTES) {
          const bytes = await readRange(handle, from, from + WHOLE_BYTES + MAX_MATCH_BYTES);
          if (patterns.blob.indexIn(bytes) !== -1) return true;
          if (bytes.length <= WHOLE_BYTES) return false;
          if (slice.isOver) await slice.next();
        }
      },
      false,
    );
  }

  /** Returns the record with these blobs; without them, after a report, when they cannot be read. */
  async #withTexts(record: LogRecord, references: readonly BlobReference[]): Promise<LogRecord> {
    try {
      const log = { readBlob: (_: unknown, ref: string) => readBlob(this.#place, ref) };
      return await withBlobs(log, this.#place.slot, { ...record, blobs: references });
    } catch (error) {
      if (!StateCorruptError.is(error)) throw error;
      this.#reportSkipped(error.message, error);
      return record;
    }
  }

  async #snippetInParts(ref: string): Promise<string | null> {
    const { text: query, slice } = this.#query;
    const file = blobFile(this.#place, ref);
    if (file === null) return null;
    let text = "";
    try {
      const parts = createReadStream(file, { encoding: "utf8", highWaterMark: PART_BYTES });
      for await (const part of parts) {
        text = text.slice(-(query.length + CONTEXT_CHARS)) + part;
        const snippet = snippetAround(text, query);
        if (snippet !== null) return snippet;
        if (slice.isOver) await slice.next();
      }
    } catch (error) {
      if (!isMissing(error)) throw error;
      this.#reportSkipped(`${ref} in ${this.#place.label} is missing`);
    }
    return null;
  }

  #reportSkipped(problem: string, cause?: unknown): void {
    const message = `a search skipped a blob: ${problem}`;
    this.#query.report({ kind: "entry_skipped", message, ...(cause !== undefined && { cause }) });
  }
}
