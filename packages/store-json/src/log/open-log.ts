import { type FileHandle, open } from "node:fs/promises";
import { type LogRecord, type Slot, StateCorruptError, StateTooNewError } from "@holdfast/core";
import { slotText } from "@holdfast/core/store-kit";
import { isMissing } from "../io/io-error.js";
import { statOpen } from "../io/open-file.js";
import type { ReportSink } from "../report.js";
import { corrupt, isHeaderLine, readHeader } from "./log-header.js";
import type { LogLine } from "./log-lines.js";
import { type LogPlace, logPlace } from "./log-place.js";
import { decodeRecord } from "./log-record-line.js";

/** An open log file and its session. */
export interface OpenLog {
  readonly handle: FileHandle;
  readonly slot: Slot;
  readonly label: string;
  /** Size when it was opened: later records are not read. */
  readonly size: number;
  /** Offset of the first line after the header; 0 in an empty file. */
  readonly start: number;
  /** Unique id from the header; undefined for an empty file. */
  readonly file: string | undefined;
}

/**
 * Opens the log of a slot for reading.
 *
 * @returns what `use` returned, or `otherwise` when there is no such file
 * @throws StateCorruptError when it is the log of another slot
 */
export async function withLog<T>(
  place: LogPlace,
  use: (log: OpenLog) => Promise<T>,
  otherwise: T,
): Promise<T> {
  return withFile(place.file, async (handle) => use(await describeLog(place, handle)), otherwise);
}

/** As {@link withLog}, for any file. */
export async function withFile<T>(
  path: string,
  use: (handle: FileHandle) => Promise<T>,
  otherwise: T,
): Promise<T> {
  let handle: FileHandle;
  try {
    handle = await open(path, "r");
  } catch (error) {
    if (isMissing(error)) return otherwise;
    throw error;
  }
  try {
    return await use(handle);
  } finally {
    await handle.close();
  }
}

/**
 * Describes an open file that should be the log of a slot.
 *
 * @throws StateCorruptError when it is the log of another slot, or none
 */
export async function describeLog(place: LogPlace, handle: FileHandle): Promise<OpenLog> {
  const { slot, label } = place;
  const header = await readHeader(handle, label);
  // After the header: a file that was empty then and is not now must not be read as if it had none.
  const size = Number(statOpen(handle).size);
  if (header === null) return { handle, slot, label, size: 0, start: 0, file: undefined };
  if (slotText(header.slot) !== slotText(slot))
    throw corrupt(label, "its header names another session");
  return { handle, slot, label, size, start: header.end, file: header.file };
}

/** Returns the place of the session that a file's header names; null, after a report, when that is not this file. */
export async function placeOfFile(
  root: string,
  path: string,
  handle: FileHandle,
  report: ReportSink,
): Promise<LogPlace | null> {
  try {
    const header = await readHeader(handle, "a log file");
    if (header === null) return null;
    const place = logPlace(root, header.slot);
    if (place.file === path) return place;
    report({
      kind: "entry_skipped",
      message: "skipped a log file: it belongs to another session",
    });
  } catch (error) {
    if (!StateCorruptError.is(error) && !StateTooNewError.is(error)) throw error;
    report({
      kind: "entry_skipped",
      message: `skipped a log file: ${error.message}`,
      cause: error,
    });
  }
  return null;
}

/** Decodes a line; null, after a report, when it is not a record, unless its write may still be under way. */
export function recordIn(log: OpenLog, line: LogLine, report: ReportSink): LogRecord | null {
  const text = line.bytes.toString("utf8");
  const record = decodeRecord(log.slot, text, line.start);
  if (record === null && line.ended && !isHeaderLine(text))
    report({
      kind: "torn_record",
      message: `${log.label}: skipped the line at byte ${line.start}, which is not a record: it was cut short by a crash or a full disk, or damaged`,
    });
  return record;
}
