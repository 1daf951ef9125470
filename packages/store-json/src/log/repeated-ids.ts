import type { FileHandle } from "node:fs/promises";
import type { YieldingClock } from "@holdfast/core/plugin-kit";
import type { LogHit } from "@holdfast/core/store-kit";
import type { readRange } from "../io/read-range.js";
import { lineAt, lineStartFrom, linesForward } from "./log-lines.js";
import { claimedId, decodeRecord, startOf } from "./log-record-line.js";
import type { OpenLog } from "./open-log.js";

/**
 * Distance in bytes within which two lines with the same id are recognised as one record.
 *
 * Repeats come from two processes that append one record at the same time, and from one that appends it again after a
 * failed sync: they are close together.
 */
export const REPEAT_BYTES = 1_048_576;

/** Ids at the front of lines; {@link isRecordAt} tells whether such a line is whole. */
export interface ClaimedIds {
  /** Offset of the last line with an id. */
  readonly starts: ReadonlyMap<string, number>;
  /** Offset after the last line that has ended. */
  readonly end: number;
}

/** Reads the ids at the front of the lines of `[from, to)`; `from` is the offset of a line start. */
export async function claimedIds(
  handle: FileHandle,
  from: number,
  to: number,
  read?: typeof readRange,
): Promise<ClaimedIds> {
  const starts = new Map<string, number>();
  let end = Math.max(from, to);
  for await (const lines of linesForward(handle, from, to, read))
    for (const { bytes, start, ended } of lines) {
      const id = claimedId(bytes);
      if (id !== null) starts.set(id, start);
      if (!ended) end = start;
    }
  return { starts, end };
}

/** Returns the line start from which a record at `offset` may be repeated. */
export async function repeatsFrom(log: OpenLog, offset: number): Promise<number> {
  const from = offset - REPEAT_BYTES;
  return from <= log.start ? log.start : lineStartFrom(log.handle, from, log.size);
}

/** Tells whether the line at `start` is a whole record with this id. */
export async function isRecordAt(log: OpenLog, id: string, start: number): Promise<boolean> {
  const line = await lineAt(log.handle, start, log.size);
  if (line === null) return false;
  return decodeRecord(log.slot, line.bytes.toString("utf8"), start)?.id === id;
}

/** Returns those of `ids` that belong to a record before `offset`. */
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

/** Drops hits that repeat a record further up in the file; `hits` are newest first and close together. */
export async function withoutRepeats(
  log: OpenLog,
  hits: readonly LogHit[],
  clock: YieldingClock,
): Promise<LogHit[]> {
  const [newest, oldest] = [hits[0], hits.at(-1)];
  if (newest === undefined || oldest === undefined) return [];
  /** Offsets of the lines that claim an id. */
  const starts = new Map(hits.map(({ record }): [string, number[]] => [record.id, []]));
  const from = await repeatsFrom(log, startOf(oldest.record.seq));
  for await (const lines of linesForward(log.handle, from, startOf(newest.record.seq))) {
    for (const { bytes, start } of lines) starts.get(claimedId(bytes) ?? "")?.push(start);
    if (clock.isDue) await clock.tick();
  }
  const first: LogHit[] = [];
  for (const hit of hits) {
    const { id, seq } = hit.record;
    const isBefore = (start: number) =>
      start < startOf(seq) && start >= startOf(seq) - REPEAT_BYTES;
    if (!(await isAnyRecord(log, id, (starts.get(id) ?? []).filter(isBefore)))) first.push(hit);
  }
  return first;
}

async function isAnyRecord(log: OpenLog, id: string, starts: readonly number[]): Promise<boolean> {
  for (const start of starts) if (await isRecordAt(log, id, start)) return true;
  return false;
}
