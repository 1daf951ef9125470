import type { LogRecord } from "@holdfast/core";
import type { LogRange } from "@holdfast/core/store-kit";
import type { ReportSink } from "../report.js";
import { lineStartFrom, linesBackward, linesForward } from "./log-lines.js";
import { type OpenLog, recordIn } from "./open-log.js";
import { repeatedIds } from "./repeated-ids.js";

/**
 * Returns the records of a range, oldest first. Reads those and a little before them, never the whole file.
 *
 * Of records with one id the first counts, so that paging visits each once.
 */
export async function readPage(
  log: OpenLog,
  { before, after, limit }: LogRange & { readonly limit: number },
  report: ReportSink,
): Promise<LogRecord[]> {
  // A line that starts at an offset has the seq after it; neither end need be the seq of a record.
  const to = before === undefined ? log.size : await lineStart(log, Math.ceil(before) - 1);
  if (after === undefined) return newest(log, to, limit, report);
  const from = await lineStart(log, Math.floor(after));
  return oldest(log, Math.max(from, log.start), to, limit, report);
}

function lineStart({ handle, size }: OpenLog, offset: number): Promise<number> {
  return lineStartFrom(handle, Math.min(offset, size), size);
}

async function newest(
  log: OpenLog,
  to: number,
  limit: number,
  report: ReportSink,
): Promise<LogRecord[]> {
  /** Newest first. */
  const page = new Map<string, LogRecord>();
  for await (const lines of linesBackward(log.handle, log.start, to))
    for (const line of lines) {
      const record = recordIn(log, line, report);
      if (record === null) continue;
      page.delete(record.id);
      page.set(record.id, record);
      if (page.size < limit) continue;
      for (const id of await repeatedIds(log, line.start, [...page.keys()])) page.delete(id);
      if (page.size === limit) return [...page.values()].reverse();
    }
  return [...page.values()].reverse();
}

async function oldest(
  log: OpenLog,
  from: number,
  to: number,
  limit: number,
  report: ReportSink,
): Promise<LogRecord[]> {
  const page = new Map<string, LogRecord>();
  const dropRepeats = async () => {
    for (const id of await repeatedIds(log, from, [...page.keys()])) page.delete(id);
  };
  for await (const lines of linesForward(log.handle, from, to))
    for (const line of lines) {
      const record = recordIn(log, line, report);
      if (record === null || page.has(record.id)) continue;
      page.set(record.id, record);
      if (page.size < limit) continue;
      await dropRepeats();
      if (page.size === limit) return [...page.values()];
    }
  await dropRepeats();
  return [...page.values()];
}
