import { type FileHandle, open } from "node:fs/promises";
import type { LogHit, LogPosition } from "@holdfast/core/store-kit";
import { isMissing } from "../io/io-error.js";
import type { ReportSink } from "../report.js";
import { candidateLines, everyLine } from "./candidate-lines.js";
import { lineStartFrom } from "./log-lines.js";
import { seqOf } from "./log-record-line.js";
import { describeLog, type OpenLog } from "./open-log.js";
import { placeOfFile } from "./place-of-file.js";
import type { ScannedPart } from "./scanned-parts.js";
import { LineSearch } from "./search-lines.js";
import type { SessionFile } from "./session-files.js";
import type { TimeSlice } from "./time-slice.js";

/** What is the same in all sessions of a search. */
export interface SearchContext {
  readonly root: string;
  readonly text: string;
  /** False when the bytes of a line do not tell whether it may match. */
  readonly scansLines: boolean;
  /** False when the bytes of a long text do not tell. */
  readonly scansBlobs: boolean;
  readonly slice: TimeSlice;
  readonly report: ReportSink;
}

interface OpenSession {
  readonly log: OpenLog;
  readonly lines: LineSearch;
}

/** More are not remembered: then every long text may match. */
const MAX_REFS = 1_000;

/** The search in one session. Its file is opened when something was found in it, and must be closed. */
export class SessionSearch {
  readonly file: SessionFile;
  readonly #context: SearchContext;
  /** Of the long texts that may match; undefined: all of them may. */
  #refs: Set<string> | undefined;
  /** Undefined before it was tried, null when it is passed over. */
  #opened: OpenSession | null | undefined;

  constructor(file: SessionFile, context: SearchContext) {
    this.file = file;
    this.#context = context;
    this.#refs = context.scansBlobs ? new Set() : undefined;
  }

  /** Up to `limit` hits in a part; parts come newest first, those of long texts before all others. */
  async hitsIn({ ref, range, finds }: ScannedPart, limit: number): Promise<LogHit[]> {
    if (ref !== null) {
      if (finds.matches.length > 0) this.#refs?.add(ref);
      if ((this.#refs?.size ?? 0) > MAX_REFS) this.#refs = undefined;
      return [];
    }
    const { scansLines } = this.#context;
    const blobLines = this.#refs?.size === 0 ? new Float64Array() : finds.blobLines;
    if (scansLines && finds.matches.length + blobLines.length === 0) return [];
    const opened = await this.#open();
    if (opened === null) return [];
    const lines = scansLines
      ? candidateLines(opened.log, { matches: finds.matches, blobLines })
      : everyLine(opened.log, range.from, range.to);
    return opened.lines.hitsIn(lines, limit);
  }

  /**
   * Where to go on when everything from `from` on was searched; null for a file that is passed over, and when that would be
   * no further than `to`, where this search began: in the middle of a line nobody can go on.
   */
  async positionAt(from: number, to: number): Promise<LogPosition | null> {
    const opened = await this.#open();
    if (opened === null) return null;
    const { log, lines } = opened;
    const start = await lineStartFrom(log.handle, Math.min(from, log.size), log.size);
    const decided = Math.min(start, lines.decidedFrom);
    return decided < to ? { sessionId: log.slot.sessionId, seq: seqOf(decided) } : null;
  }

  async close(): Promise<void> {
    await this.#opened?.log.handle.close();
    this.#opened = null;
  }

  async #open(): Promise<OpenSession | null> {
    if (this.#opened !== undefined) return this.#opened;
    let handle: FileHandle;
    try {
      handle = await open(this.file.path, "r");
    } catch (error) {
      if (!isMissing(error)) throw error;
      this.#opened = null;
      return null;
    }
    try {
      this.#opened = await this.#describe(handle);
      return this.#opened;
    } finally {
      if (!this.#opened) await handle.close();
    }
  }

  async #describe(handle: FileHandle): Promise<OpenSession | null> {
    const { root, text, slice, report } = this.#context;
    const place = await placeOfFile(root, this.file.path, handle, report);
    if (place === null) return null;
    const log = await describeLog(place, handle);
    const mayHold = (ref: string): boolean => this.#refs?.has(ref) ?? true;
    return { log, lines: new LineSearch(log, { place, text, mayHold, slice, report }) };
  }
}
