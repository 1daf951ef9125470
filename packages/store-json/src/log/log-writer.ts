import type { FileHandle } from "node:fs/promises";
import { StateTooLargeError, StoreUnavailableError, UnknownOutcomeError } from "@holdfast/core";
import { BoundedMap } from "@holdfast/core/plugin-kit";
import type { Disk } from "../io/disk.js";
import { IdlePool } from "../io/idle-pool.js";
import { ioReason, isMissing } from "../io/io-error.js";
import { readOpen, statName, statOpen, writeOpen } from "../io/open-file.js";
import { sweepTemporaries } from "../io/stale-temporaries.js";
import type { ReportSink } from "../report.js";
import { storeBlobs } from "./blob-files.js";
import { headerLine } from "./log-header.js";
import type { LogPlace } from "./log-place.js";
import type { EncodedRecord } from "./log-record-line.js";
import { describeLog, type OpenLog } from "./open-log.js";
import { SeenIds } from "./seen-ids.js";

/** Logs whose recent ids are cached. Evicting one costs reading the last megabyte of its file. */
const SEEN_KEPT = 256;
/** Evicting one costs a few needless syncs. */
const KNOWN_KEPT = 10_000;
/** An append is one system call, which writes at most 2 GB. */
const MAX_APPEND_BYTES = 268_435_456;
/** Attempts before giving up on a file that other processes keep deleting. */
const ATTEMPTS = 100;

const LINE_END = Buffer.from("\n");

/** State of a log file as far as this process knows. */
interface KnownFile {
  readonly file: string | undefined;
  /** Data before this offset may never reach the disk, although it is in the system's cache. */
  trustedFrom: number;
  syncFailed: boolean;
}

/** A log that is kept open, with its size when it was last written to. */
interface KeptLog {
  readonly log: OpenLog;
  readonly inode: bigint;
  readonly header: Buffer;
}

/** Appends to log files; one call at a time per file. */
export class LogWriter {
  readonly #disk: Disk;
  readonly #report: ReportSink;
  readonly #seen = new BoundedMap<string, SeenIds>({
    maxEntries: SEEN_KEPT,
    leastRecentlyUsed: true,
  });
  readonly #open = new IdlePool<KeptLog>(({ log }) => log.handle.close());
  readonly #known = new BoundedMap<string, KnownFile>({
    maxEntries: KNOWN_KEPT,
    leastRecentlyUsed: true,
  });
  readonly #swept = new BoundedMap<string, true>({
    maxEntries: KNOWN_KEPT,
    leastRecentlyUsed: true,
  });

  constructor(disk: Disk, report: ReportSink) {
    this.#disk = disk;
    this.#report = report;
  }

  /**
   * Appends the records that the file does not hold yet, with one write.
   *
   * @throws StateCorruptError | StateTooLargeError | StoreUnavailableError | UnknownOutcomeError
   */
  async append(place: LogPlace, records: readonly EncodedRecord[]): Promise<void> {
    const log = this.#keptLog(place) ?? (await this.#openLog(place));
    const { handle } = log;
    let kept: KeptLog | undefined;
    try {
      const known = await this.#knownFile(place, log);
      const seen = await this.#seenIds(place, log, known, bytesOf(records));
      const fresh: EncodedRecord[] = [];
      for (const record of records) if (!(await seen.holds(log, record.id))) fresh.push(record);
      checkSize(place, fresh);
      const blobs = new Map(fresh.flatMap((record) => [...record.blobs]));
      await storeBlobs(this.#disk, place, blobs, this.#report);
      const end = await this.#write(place, log, fresh);
      // Also when all of them were there: the process that wrote them may have died before they were durable.
      await this.#sync(place, handle, known);
      kept = keptNow(log);
      if (fresh.length > 0 && kept?.log.size === end) seen.wrote(fresh, end - bytesOf(fresh));
    } finally {
      if (kept !== undefined) this.#open.put(place.file, kept);
      // Everything that must be durable is synced: closing cannot lose anything.
      else await handle.close().catch(() => undefined);
    }
  }

  /** Closes the files that are kept open. */
  close(): Promise<void> {
    return this.#open.clear();
  }

  /** Forgets a log that was deleted. */
  async forget(place: LogPlace): Promise<void> {
    await this.#open.take(place.file)?.log.handle.close();
    this.#seen.delete(place.file);
    this.#known.delete(place.file);
  }

  /** Returns a log that is kept open, as it is now, if its file was neither replaced nor written anew. */
  #keptLog(place: LogPlace): OpenLog | undefined {
    const kept = this.#open.take(place.file);
    if (kept === undefined) return undefined;
    const { log, inode, header } = kept;
    const now = statName(place.file);
    if (now?.ino === inode && readOpen(log.handle, log.start).equals(header))
      return { ...log, size: Number(now.size) };
    void log.handle.close().catch(() => undefined);
    return undefined;
  }

  async #openLog(place: LogPlace): Promise<OpenLog> {
    const handle = await this.#openFile(place);
    try {
      return await describeLog(place, handle);
    } catch (error) {
      await handle.close().catch(() => undefined);
      throw error;
    }
  }

  async #openFile(place: LogPlace): Promise<FileHandle> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#disk.openForAppend(place.file, false);
      } catch (error) {
        if (!isMissing(error) || attempt === ATTEMPTS) throw error;
      }
      try {
        await this.#create(place);
      } catch (error) {
        // A delete in another process removed the empty directory.
        if (!isMissing(error)) throw error;
      }
    }
  }

  /** Creates a file with a header, unless another process does. */
  async #create(place: LogPlace): Promise<void> {
    await this.#disk.makeDirectory(place.directory, place.root);
    if (this.#swept.get(place.directory) === undefined) {
      await sweepTemporaries(place.directory, this.#report);
      this.#swept.set(place.directory, true);
    }
    await this.#disk.publish(place.directory, place.name, headerLine(place.slot));
  }

  async #knownFile(place: LogPlace, log: OpenLog): Promise<KnownFile> {
    let known = this.#known.get(place.file);
    if (known === undefined || known.file !== log.file) {
      // The process that created the file may have died before its name was durable.
      await this.#disk.syncDirectories(...place.directories);
      known = { file: log.file, trustedFrom: 0, syncFailed: false };
      this.#known.set(place.file, known);
    }
    if (known.syncFailed) {
      this.#seen.delete(place.file);
      known.trustedFrom = log.size;
      known.syncFailed = false;
    }
    return known;
  }

  async #seenIds(place: LogPlace, log: OpenLog, known: KnownFile, bytes: number): Promise<SeenIds> {
    let seen = this.#seen.get(place.file);
    if (seen === undefined || seen.file !== log.file) {
      seen = new SeenIds(log.file);
      this.#seen.set(place.file, seen);
    }
    await seen.catchUp(log, known.trustedFrom, bytes);
    return seen;
  }

  /** Returns the end of the file, if no other process wrote to it meanwhile. */
  async #write(
    place: LogPlace,
    { handle, size, file }: OpenLog,
    records: readonly EncodedRecord[],
  ): Promise<number> {
    if (records.length === 0) return size;
    const header = file === undefined ? [headerLine(place.slot)] : [];
    // The leading line end separates the first line from one that was cut short.
    const bytes = Buffer.concat([...header, LINE_END, ...records.map(({ line }) => line)]);
    const written = await writeOpen(handle, bytes);
    if (written < bytes.length)
      throw new StoreUnavailableError(
        `the disk took ${written} of ${bytes.length} bytes for ${place.label}: it is full; make room and append the same records again`,
      );
    return size + bytes.length;
  }

  async #sync(place: LogPlace, handle: FileHandle, known: KnownFile): Promise<void> {
    try {
      await this.#disk.syncData(handle);
    } catch (error) {
      known.syncFailed = true;
      throw new UnknownOutcomeError(
        `could not sync ${place.label} to the disk (${ioReason(error)}); the records may or may not be stored: append the same ones again`,
        { cause: error },
      );
    }
  }
}

function checkSize(place: LogPlace, records: readonly EncodedRecord[]): void {
  const bytes = bytesOf(records);
  if (bytes > MAX_APPEND_BYTES)
    throw new StateTooLargeError(
      `${bytes} bytes are too many for one append to ${place.label}; at most ${MAX_APPEND_BYTES} are accepted: append fewer records at once`,
    );
}

/** Returns a log to be kept; undefined for one that had no header yet. */
function keptNow(log: OpenLog): KeptLog | undefined {
  if (log.file === undefined) return undefined;
  try {
    const { ino, size } = statOpen(log.handle);
    const header = readOpen(log.handle, log.start);
    return { log: { ...log, size: Number(size) }, inode: ino, header };
  } catch {
    // The records are stored; their offsets are read again with the next append.
    return undefined;
  }
}

function bytesOf(records: readonly EncodedRecord[]): number {
  return records.reduce((sum, { line }) => sum + line.length, 0);
}
