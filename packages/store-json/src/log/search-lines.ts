import type { LogRecord } from "@holdfast/core";
import { type LogHit, messageProblem } from "@holdfast/core/store-kit";
import type { LogLine } from "./log-lines.js";
import { type OpenLog, recordIn } from "./open-log.js";
import { type LogSearch, snippetIn } from "./search-blobs.js";
import { withoutRepeats } from "./without-repeats.js";

/** A line that may hold what is looked for. */
export interface CandidateLine extends LogLine {
  /** False when only its long texts may. */
  readonly mayMatch: boolean;
}

interface PlacedHit extends LogHit {
  readonly start: number;
}

/** Decides on the lines of one log, newest first. Of records with one id the first counts. */
export class LineSearch {
  readonly #log: OpenLog;
  readonly #search: LogSearch;
  /** Lines from here on are decided on. */
  #decidedFrom = Infinity;

  constructor(log: OpenLog, search: LogSearch) {
    this.#log = log;
    this.#search = search;
  }

  /** Where the oldest line starts that was looked at. */
  get decidedFrom(): number {
    return this.#decidedFrom;
  }

  /** Up to `limit` hits among these lines. */
  async hitsIn(lines: AsyncIterable<readonly CandidateLine[]>, limit: number): Promise<LogHit[]> {
    const { slice } = this.#search;
    const hits: LogHit[] = [];
    let placed: PlacedHit[] = [];
    const settle = async (): Promise<void> => {
      const first = await withoutRepeats(this.#log, placed, slice);
      hits.push(...first.map(({ slot, record, snippet }) => ({ slot, record, snippet })));
      placed = [];
    };
    for await (const chunk of lines)
      for (const line of chunk) {
        // A line that reaches into a newer part was met there already.
        if (line.start >= this.#decidedFrom) continue;
        if (slice.isOver) await slice.next();
        const hit = await this.#hitIn(line);
        this.#decidedFrom = line.start;
        if (hit === null) continue;
        placed.push({ ...hit, start: line.start });
        if (hits.length + placed.length < limit) continue;
        await settle();
        if (hits.length === limit) return hits;
      }
    await settle();
    return hits;
  }

  async #hitIn(line: CandidateLine): Promise<LogHit | null> {
    const { mayHold, report } = this.#search;
    const record = recordIn(this.#log, line, report);
    if (record === null || !isMessage(record)) return null;
    if (!line.mayMatch && !record.blobs?.some(({ ref }) => mayHold(ref))) return null;
    const snippet = await snippetIn(this.#search, record);
    return snippet === null ? null : { slot: { ...this.#log.slot }, record, snippet };
  }
}

function isMessage({ message }: LogRecord): boolean {
  return message !== undefined && messageProblem(message) === null;
}
