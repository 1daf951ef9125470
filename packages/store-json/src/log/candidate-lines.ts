import type { ScanFinds } from "../scan/scan-range.js";
import { lineStartBefore, lineStartFrom, linesBackward } from "./log-lines.js";
import type { OpenLog } from "./open-log.js";
import type { CandidateLine } from "./search-lines.js";

/** Lines that are this near to each other are read together. */
const NEAR_BYTES = 65_536;
/** But no more than this at once. */
const TOGETHER_BYTES = 1_048_576;

/** The lines in which something was found, newest first, some at a time. */
export async function* candidateLines(
  log: OpenLog,
  { matches, blobLines }: ScanFinds,
): AsyncGenerator<CandidateLine[], void> {
  const all = blobLines.length === 0 ? matches : merged(matches, blobLines);
  for (let end = all.length; end > 0; ) {
    const begin = beginOfGroup(all, end);
    const from = await lineStartBefore(log.handle, all[begin] as number, log.start);
    const to = await lineStartFrom(log.handle, (all[end - 1] as number) + 1, log.size);
    for await (const lines of linesBackward(log.handle, from, to)) {
      const candidates: CandidateLine[] = [];
      for (const line of lines) {
        const mayMatch = hasWithin(matches, line.start, line.bytes.length);
        if (mayMatch || hasWithin(blobLines, line.start, line.bytes.length))
          candidates.push({ ...line, mayMatch });
      }
      if (candidates.length > 0) yield candidates;
    }
    end = begin;
  }
}

/** Every line that starts in `[from, to)`, newest first, some at a time. */
export async function* everyLine(
  log: OpenLog,
  from: number,
  to: number,
): AsyncGenerator<CandidateLine[], void> {
  const { handle, size, start } = log;
  const [first, end] = [
    Math.max(start, await lineStartFrom(handle, Math.min(from, size), size)),
    await lineStartFrom(handle, Math.min(to, size), size),
  ];
  for await (const lines of linesBackward(handle, first, end))
    yield lines.map((line) => ({ ...line, mayMatch: true }));
}

function beginOfGroup(offsets: Float64Array, end: number): number {
  const last = offsets[end - 1] as number;
  let begin = end - 1;
  while (begin > 0) {
    const before = offsets[begin - 1] as number;
    if ((offsets[begin] as number) - before > NEAR_BYTES || last - before > TOGETHER_BYTES) break;
    begin--;
  }
  return begin;
}

function merged(one: Float64Array, other: Float64Array): Float64Array {
  const all = new Float64Array(one.length + other.length);
  all.set(one);
  all.set(other, one.length);
  return all.sort();
}

/** Whether one of the ascending offsets is in a line of so many bytes. */
function hasWithin(offsets: Float64Array, start: number, bytes: number): boolean {
  let [low, high] = [0, offsets.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((offsets[middle] as number) < start) low = middle + 1;
    else high = middle;
  }
  const found = offsets[low];
  return found !== undefined && found < start + bytes;
}
