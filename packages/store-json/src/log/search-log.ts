import { type LogHit, type LogRecord, messageProblem } from "@holdfast/core";
import { linesBackward } from "./log-lines.js";
import { type OpenLog, recordIn } from "./open-log.js";
import { type LogSearch, snippetIn } from "./search-blobs.js";
import { searchProbe } from "./search-probe.js";

/** Up to `limit` records of a log that match, newest first. Holds a chunk of the file at a time. */
export async function searchLog(log: OpenLog, search: LogSearch, limit: number): Promise<LogHit[]> {
  const { text, slice, report } = search;
  const mayMatch = searchProbe(text);
  const hits = new Map<string, LogHit>();
  for await (const lines of linesBackward(log.handle, log.start, log.size)) {
    for (const line of lines) {
      if (slice.isOver) await slice.next();
      if (!mayMatch(line.bytes.toString("utf8"))) continue;
      const record = recordIn(log, line, report);
      if (record === null || !isMessage(record)) continue;
      const snippet = await snippetIn(search, record);
      if (snippet === null) continue;
      // Of records with one id the first counts, and it comes last here.
      hits.delete(record.id);
      hits.set(record.id, { slot: { ...log.slot }, record, snippet });
      if (hits.size === limit) return [...hits.values()];
    }
    // Reading takes its time too.
    await slice.next();
  }
  return [...hits.values()];
}

function isMessage({ message }: LogRecord): boolean {
  return message !== undefined && messageProblem(message) === null;
}
