import { linesForward } from "./log-lines.js";
import { claimedId } from "./log-record-line.js";
import type { OpenLog } from "./open-log.js";
import { isRecordAt, REPEAT_BYTES, repeatsFrom } from "./repeated-ids.js";
import type { TimeSlice } from "./time-slice.js";

/** A record and where its line starts. */
export interface PlacedRecord {
  readonly start: number;
  readonly record: { readonly id: string };
}

/** Without those that repeat a record which stands before them; `records` are newest first. */
export async function withoutRepeats<T extends PlacedRecord>(
  log: OpenLog,
  records: readonly T[],
  slice: TimeSlice,
): Promise<T[]> {
  const first: T[] = [];
  for (let index = 0; index < records.length; ) {
    const near = nearEachOther(records, index);
    const starts = await startsOf(log, near, slice);
    for (const placed of near) {
      const before = (starts.get(placed.record.id) ?? []).filter(
        (start) => start < placed.start && start >= placed.start - REPEAT_BYTES,
      );
      if (!(await isAnyRecord(log, placed.record.id, before))) first.push(placed);
    }
    index += near.length;
  }
  return first;
}

/** From `index` on those that are looked for in one go: what is before one holds the next. */
function nearEachOther<T extends PlacedRecord>(records: readonly T[], index: number): T[] {
  let end = index + 1;
  while (end < records.length && startAt(records, end - 1) - startAt(records, end) <= REPEAT_BYTES)
    end++;
  return records.slice(index, end);
}

/** Where lines claim the ids of these records, before the newest of them. */
async function startsOf(
  log: OpenLog,
  records: readonly PlacedRecord[],
  slice: TimeSlice,
): Promise<Map<string, number[]>> {
  const starts = new Map(records.map(({ record }): [string, number[]] => [record.id, []]));
  const from = await repeatsFrom(log, startAt(records, records.length - 1));
  for await (const lines of linesForward(log.handle, from, startAt(records, 0))) {
    for (const { bytes, start } of lines) starts.get(claimedId(bytes) ?? "")?.push(start);
    if (slice.isOver) await slice.next();
  }
  return starts;
}

function startAt(records: readonly PlacedRecord[], index: number): number {
  return records[index]?.start ?? 0;
}

async function isAnyRecord(log: OpenLog, id: string, starts: readonly number[]): Promise<boolean> {
  for (const start of starts) if (await isRecordAt(log, id, start)) return true;
  return false;
}
