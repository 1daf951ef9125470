import type { LogHit } from "@holdfast/core";
import { linesForward } from "./log-lines.js";
import { claimedId, startOf } from "./log-record-line.js";
import type { OpenLog } from "./open-log.js";
import { isRecordAt, REPEAT_BYTES, repeatsFrom } from "./repeated-ids.js";
import type { TimeSlice } from "./time-slice.js";

/** Drops hits that repeat a record further up in the file; `hits` are newest first and close together. */
export async function withoutRepeats(
  log: OpenLog,
  hits: readonly LogHit[],
  slice: TimeSlice,
): Promise<LogHit[]> {
  const [newest, oldest] = [hits[0], hits.at(-1)];
  if (newest === undefined || oldest === undefined) return [];
  /** By id, where lines start that claim it. */
  const starts = new Map(hits.map(({ record }): [string, number[]] => [record.id, []]));
  const from = await repeatsFrom(log, startOf(oldest.record.seq));
  for await (const lines of linesForward(log.handle, from, startOf(newest.record.seq))) {
    for (const { bytes, start } of lines) starts.get(claimedId(bytes) ?? "")?.push(start);
    if (slice.isOver) await slice.next();
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
