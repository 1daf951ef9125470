import type { FileHandle } from "node:fs/promises";
import {
  type LogFinds,
  type LogHit,
  type LogPosition,
  messageProblem,
} from "@holdfast/core/store-kit";
import type { ReportSink } from "../report.js";
import type { BytePattern } from "./byte-pattern.js";
import {
  type BlockBuffer,
  blocksBackward,
  type LogBlock,
  type LogLine,
  lineIn,
  lineStartFrom,
} from "./log-lines.js";
import { seqOf } from "./log-record-line.js";
import { describeLog, type OpenLog, placeOfFile, recordIn, withFile } from "./open-log.js";
import type { QueryPatterns } from "./query-patterns.js";
import { withoutRepeats } from "./repeated-ids.js";
import { RecordSearch } from "./search-record.js";
import type { SessionFile } from "./session-files.js";
import type { TimeSlice } from "./time-slice.js";

/** The part of a search that is the same in all sessions. */
export interface SearchContext {
  readonly root: string;
  readonly text: string;
  readonly patterns: QueryPatterns;
  readonly slice: TimeSlice;
  readonly report: ReportSink;
  /** Time to stop and return a position, in milliseconds of `performance.now()`. */
  readonly deadline: number;
  /** Size of the first read in a file. */
  readonly firstBytes: number;
  /** Used for one file after the other. */
  readonly buffer: BlockBuffer;
}

const LINE_END = 10;

/**
 * Searches one session, newest line first, until there are `limit` hits or the deadline has passed.
 *
 * A file that is missing, or that is not the log its name says, has no hits.
 *
 * @param end - lines that start at or behind this offset are skipped
 */
export function searchSession(
  file: SessionFile,
  end: number,
  limit: number,
  context: SearchContext,
): Promise<LogFinds> {
  const { patterns, slice, deadline, firstBytes, buffer } = context;
  const searched = file.blobs === null ? [patterns.line] : [patterns.line, patterns.blobsField];
  const search = async (handle: FileHandle): Promise<LogFinds> => {
    const { size } = file;
    const to = end < size ? await lineStartFrom(handle, end, size) : size;
    const hits: LogHit[] = [];
    let lineSearch: LineSearch | null | undefined;
    for await (const block of blocksBackward(handle, 0, to, firstBytes, buffer)) {
      if (slice.isOver) await slice.next();
      const lines = matchingLines(block, searched);
      const isLate = performance.now() > deadline;
      if (lines.length === 0 && !isLate) continue;
      lineSearch ??= await openLineSearch(file, handle, context);
      if (lineSearch === null) break;
      const finds = await lineSearch.hitsIn(lines, limit - hits.length);
      hits.push(...finds.hits);
      const next = finds.next ?? (isLate ? lineSearch.positionAt(block.start) : undefined);
      if (next !== undefined) return { hits, next };
    }
    return { hits };
  };
  return withFile(file.path, search, { hits: [] });
}

/** Returns the lines in which a pattern is found, newest first, without the header of the file. */
function matchingLines(block: LogBlock, patterns: readonly BytePattern[]): LogLine[] {
  const { bytes } = block;
  const lines = new Map<number, LogLine>();
  for (const pattern of patterns)
    for (let at = pattern.indexIn(bytes); at !== -1; ) {
      const lineStart = at === 0 ? 0 : bytes.lastIndexOf(LINE_END, at - 1) + 1;
      const line = lineIn(block, lineStart);
      if (line.start > 0 && line.bytes.length > 0) lines.set(line.start, line);
      at = pattern.indexIn(bytes, lineStart + line.bytes.length + 1);
    }
  return [...lines.values()].sort((one, other) => other.start - one.start);
}

/** Returns null, after a report, when the file is not the log its name says. */
async function openLineSearch(
  file: SessionFile,
  handle: FileHandle,
  context: SearchContext,
): Promise<LineSearch | null> {
  const place = await placeOfFile(context.root, file.path, handle, context.report);
  if (place === null) return null;
  const log = await describeLog(place, handle);
  return new LineSearch(log, new RecordSearch(place, context), context);
}

/** Parses lines that may match, and decides. Of records with one id the first in the file counts. */
class LineSearch {
  readonly #log: OpenLog;
  readonly #records: RecordSearch;
  readonly #context: SearchContext;

  constructor(log: OpenLog, records: RecordSearch, context: SearchContext) {
    this.#log = log;
    this.#records = records;
    this.#context = context;
  }

  /** Returns the hits among these lines, and a position when it stopped before the last of them. */
  async hitsIn(lines: readonly LogLine[], limit: number): Promise<LogFinds> {
    const { slice, deadline } = this.#context;
    const hits: LogHit[] = [];
    let unchecked: LogHit[] = [];
    for (const line of lines) {
      if (slice.isOver) await slice.next();
      const hit = await this.#hitIn(line);
      if (hit !== null) unchecked.push(hit);
      const isLate = performance.now() > deadline;
      if (!isLate && hits.length + unchecked.length < limit) continue;
      hits.push(...(await withoutRepeats(this.#log, unchecked, slice)));
      unchecked = [];
      if (isLate || hits.length === limit) return { hits, next: this.positionAt(line.start) };
    }
    hits.push(...(await withoutRepeats(this.#log, unchecked, slice)));
    return { hits };
  }

  /** Position from which a search goes on with the lines before an offset. */
  positionAt(start: number): LogPosition {
    return { sessionId: this.#log.slot.sessionId, seq: seqOf(start) };
  }

  async #hitIn(line: LogLine): Promise<LogHit | null> {
    const record = recordIn(this.#log, line, this.#context.report);
    if (record?.message === undefined || messageProblem(record.message) !== null) return null;
    const snippet = await this.#records.snippetIn(record, line.bytes);
    return snippet === null ? null : { slot: { ...this.#log.slot }, record, snippet };
  }
}
