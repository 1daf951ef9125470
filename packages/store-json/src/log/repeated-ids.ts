import type { FileHandle } from "node:fs/promises";
import { lineAt, lineStartFrom, linesForward } from "./log-lines.js";
import { claimedId, decodeRecord } from "./log-record-line.js";
import type { OpenLog } from "./open-log.js";

/**
 * How far apart, in bytes, two lines with one id may be and still be known for the same record.
 *
 * Repeats are made by two processes that append one record at once, and by one that appends it again after a sync
 * failed: they are close together.
 */
export const REPEAT_BYTES = 1_048_576;

/** The ids that lines of a stretch claim: whether such a line is whole, {@link isRecordAt} tells. */
export interface ClaimedIds {
  /** Where the last line with an id starts. */
  readonly starts: ReadonlyMap<string, number>;
  /** Offset after the last line that has ended. */
  readonly end: number;
}

/** Looks at the fronts of the lines of `[from, to)`; `from` is the offset of a line start. */
export async function claimedIds(
  handle: FileHandle,
  from: number,
  to: number,
): Promise<ClaimedIds> {
  const starts = new Map<string, number>();
  let end = Math.max(from, to);
  for await (const lines of linesForward(handle, from, to))
    for (const { bytes, start, ended } of lines) {
      const id = claimedId(bytes);
      if (id !== null) starts.set(id, start);
      if (!ended) end = start;
    }
  return { starts, end };
}

/** Offset of the line start from which on repeats of a record at `offset` are looked for. */
export async function repeatsFrom(log: OpenLog, offset: number): Promise<number> {
  const from = offset - REPEAT_BYTES;
  return from <= log.start ? log.start : lineStartFrom(log.handle, from, log.size);
}

/** Whether the line at `start` is a whole record with this id. */
export async function isRecordAt(log: OpenLog, id: string, start: number): Promise<boolean> {
  const line = await lineAt(log.handle, start, log.size);
  if (line === null) return false;
  return decodeRecord(log.slot, line.bytes.toString("utf8"), start)?.id === id;
}

/** Which of `ids` are those of records that stand before `offset`. */
export async function repeatedIds(
  log: OpenLog,
  offset: number,
  ids: readonly string[],
): Promise<string[]> {
  if (ids.length === 0) return [];
  const { starts } = await claimedIds(log.handle, await repeatsFrom(log, offset), offset);
  const repeated: string[] = [];
  for (const id of ids) {
    const start = starts.get(id);
    if (start !== undefined && (await isRecordAt(log, id, start))) repeated.push(id);
  }
  return repeated;
}
