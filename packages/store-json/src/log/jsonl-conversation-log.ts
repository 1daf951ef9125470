import { resolve } from "node:path";
import type { ConversationLog, LogRecord, Slot } from "@holdfast/core";
import { KeyedQueue } from "@holdfast/core/plugin-kit";
import {
  checkLimit,
  checkLogDraft,
  checkSlot,
  DEFAULT_LOG_LIMIT,
  type LogDraft,
  type LogFinds,
  type LogQuery,
  type LogRange,
  type LogSessionPage,
  type LogSessionQuery,
} from "@holdfast/core/store-kit";
import { Disk } from "../io/disk.js";
import { unavailable } from "../io/io-error.js";
import { bySlot } from "../layout.js";
import { checkOptions, type FileOptions, fileOptionRules } from "../options.js";
import { type ReportSink, safeReport } from "../report.js";
import { readBlob } from "./blob-files.js";
import { deleteLog } from "./delete-log.js";
import { type LogPlace, logPlace } from "./log-place.js";
import { encodeRecord } from "./log-record-line.js";
import { LogWriter } from "./log-writer.js";
import { withLog } from "./open-log.js";
import { readPage } from "./read-page.js";
import { searchSessions } from "./search-sessions.js";
import { SessionListing } from "./session-listing.js";

/** Options of a {@link JsonlConversationLog}. */
export type JsonlConversationLogOptions = FileOptions;

/**
 * Keeps the conversation log in files of one JSON record per line, one file per session, on one host.
 *
 * Contract, beyond {@link ConversationLog}'s:
 * - Any number of processes of the host may append to a session at once; nothing is lost or duplicated.
 * - A line cut short by a crash is skipped and reported to `onReport`; nothing is ever cut from a file.
 * - A record is recognised as a repeat within the last megabyte of its session's file.
 * - A read costs what it returns and that megabyte, whatever the length of the file.
 * - A search reads files in blocks of up to two megabytes, and gives other work a turn between them.
 * - Constructing does no I/O. The files of the logs written to last stay open until they were idle for five seconds, at most 256.
 *
 * @example
 * const log = new JsonlConversationLog({ root: "./workspace" });
 */
export class JsonlConversationLog implements ConversationLog {
  readonly contract = 1;
  readonly kind = "json";
  readonly reach = "host";
  /** Directory of all files. */
  readonly root: string;
  readonly #logOf: (slot: Slot) => LogPlace;
  readonly #disk: Disk;
  readonly #report: ReportSink;
  readonly #writer: LogWriter;
  readonly #listing: SessionListing;
  readonly #queue = new KeyedQueue();
  readonly #beforeAppend: ((slot: Slot) => Promise<void>) | undefined;

  /**
   * @param beforeAppend - internal: done before records are appended, by a store that removes expired sessions
   * @throws ConfigurationError
   */
  constructor(options: JsonlConversationLogOptions, beforeAppend?: (slot: Slot) => Promise<void>) {
    this.#beforeAppend = beforeAppend;
    checkOptions("JsonlConversationLog", options, fileOptionRules);
    const { root, durability = "fsync", onReport } = options;
    this.root = resolve(root);
    this.#logOf = bySlot((slot) => logPlace(this.root, slot));
    this.#disk = new Disk(durability);
    this.#report = safeReport(onReport);
    this.#writer = new LogWriter(this.#disk, this.#report);
    this.#listing = new SessionListing(this.root, this.#report);
  }

  async append(slot: Slot, records: readonly LogDraft[]): Promise<void> {
    const place = this.#placeOf(slot);
    for (const draft of records) checkLogDraft(draft);
    const ids = new Set<string>();
    // Encoded before anything is awaited: the caller may change the records afterwards.
    const encoded = records
      .filter(({ id }) => !ids.has(id) && ids.add(id))
      .map((draft) => encodeRecord(draft));
    if (encoded.length === 0) return;
    await this.#beforeAppend?.(place.slot);
    await this.#exclusively(place, "append to", () => this.#writer.append(place, encoded));
  }

  async read(slot: Slot, range: LogRange = {}): Promise<readonly LogRecord[]> {
    const place = this.#placeOf(slot);
    const page = { ...range, limit: checkLimit(range.limit, DEFAULT_LOG_LIMIT) };
    return attempt(`read ${place.label}`, () =>
      withLog(place, (log) => readPage(log, page, this.#report), []),
    );
  }

  async readBlob(slot: Slot, ref: string): Promise<string | null> {
    const place = this.#placeOf(slot);
    return attempt(`read a blob of ${place.label}`, () => readBlob(place, ref));
  }

  async search(query: LogQuery): Promise<LogFinds> {
    const options = { report: this.#report };
    return attempt("search the logs", () => searchSessions(this.root, query, options));
  }

  async sessions(query: LogSessionQuery): Promise<LogSessionPage> {
    return attempt("list the sessions", () => this.#listing.list(query));
  }

  async delete(slot: Slot): Promise<boolean> {
    const place = this.#placeOf(slot);
    return this.#exclusively(place, "delete", async () => {
      await this.#writer.forget(place);
      return deleteLog(this.#disk, place);
    });
  }

  /** Closes the files that are kept open for the next append; the log can still be used. */
  async close(): Promise<void> {
    await this.#queue.idle();
    await this.#writer.close();
  }

  #placeOf(slot: Slot): LogPlace {
    return this.#logOf(checkSlot(slot));
  }

  #exclusively<T>(place: LogPlace, verb: string, work: () => Promise<T>): Promise<T> {
    return this.#queue.run(place.file, () => attempt(`${verb} ${place.label}`, work));
  }
}

/** Wraps system errors in one that names the command. */
async function attempt<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw unavailable(what, error);
  }
}
