import type { FileHandle } from "node:fs/promises";
import { readAdded, readRange } from "../io/read-range.js";
import type { ReportSink } from "../report.js";
import { corrupt, type Place, tooNew } from "./place.js";
import { decodeRecord, type JournalRecord } from "./record.js";
import { lineKind } from "./record-line.js";

const LINE_END = 10;

/** Range of a journal to read. */
export interface JournalRange {
  readonly place: Place;
  readonly handle: FileHandle;
  /** Offset of a line start. */
  readonly from: number;
  /** Size of the file. */
  readonly to: number;
  readonly report: ReportSink;
}

/**
 * Passes every whole record of a range to `visit`, in file order, and the offset behind it.
 *
 * @returns the offset after the last whole record or ended line; a write under way, or one cut short, may follow
 * @throws StateCorruptError when a line changed after it was written
 */
export async function readJournal(
  { place, handle, from, to, report }: JournalRange,
  visit: (record: JournalRecord, end: number) => void,
): Promise<number> {
  const bytes = await (from > 0 ? readAdded : readRange)(handle, from, to);
  const takeWhole = (line: Buffer, start: number, end: number): void => {
    const record = decodeRecord(line);
    if (record === null) throw changed(place, from + start);
    if (record === "too_new") throw tooNew(place);
    visit(record, from + end);
  };
  let start = 0;
  for (let end = bytes.indexOf(LINE_END); end !== -1; end = bytes.indexOf(LINE_END, start)) {
    const line = bytes.subarray(start, end);
    const kind = line.length === 0 ? "empty" : lineKind(line);
    if (kind === "changed") throw changed(place, from + start);
    if (kind === "whole") takeWhole(line, start, end + 1);
    if (kind === "cut")
      report({
        kind: "torn_record",
        message: `${place.label}: skipped a record at byte ${from + start} of its journal that was cut short by a crash or a full disk; it was never acknowledged`,
      });
    start = end + 1;
  }
  const rest = bytes.subarray(start);
  if (rest.length === 0) return from + start;
  const kind = lineKind(rest);
  if (kind === "whole") {
    // Only its line end is missing, and every append begins with one: it counts, now or then.
    takeWhole(rest, start, bytes.length);
    return to;
  }
  if (kind === "changed") throw changed(place, from + start);
  return from + start;
}

function changed(place: Place, offset: number): Error {
  return corrupt(place, `the record at byte ${offset} of its journal is not what was written`);
}
