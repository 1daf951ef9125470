import { type FileHandle, open } from "node:fs/promises";
import type { LogRecord, Slot } from "@holdfast/core";
import { slotText } from "@holdfast/core/store-kit";
import { isMissing } from "../io/io-error.js";
import type { ReportSink } from "../report.js";
import { corrupt, isHeaderLine, readHeader } from "./log-header.js";
import type { LogLine } from "./log-lines.js";
import type { LogPlace } from "./log-place.js";
import { decodeRecord } from "./log-record-line.js";

/** A log file that is open, and whose it is. */
export interface OpenLog {
  readonly handle: FileHandle;
  readonly slot: Slot;
  readonly label: string;
  /** Size when it was opened: what comes later is not looked at. */
  readonly size: number;
  /** Offset of the first line after the header; 0 in an empty file. */
  readonly start: number;
  /** Which file it is; undefined for an empty one. */
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
 * Looks at an open file that should be the log of a slot.
 *
 * @throws StateCorruptError when it is the log of another slot, or none
 */
export async function describeLog(place: LogPlace, handle: FileHandle): Promise<OpenLog> {
  const { slot, label } = place;
  const header = await readHeader(handle, label);
  // After the header: a file that was empty then and is not now must not be read as if it had none.
  const { size } = await handle.stat();
  if (header === null) return { handle, slot, label, size: 0, start: 0, file: undefined };
  if (slotText(header.slot) !== slotText(slot))
    throw corrupt(label, "its header names another session");
  return { handle, slot, label, size, start: header.end, file: header.file };
}

/** The record in a line, or null; a line that holds none is reported, unless it may still be written to. */
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
