import type { CallOutcome, ConversationLog, LogRecord } from "../../ports/conversation-log.js";
import type { Slot } from "../../slot/slot.js";

/** Records read at a time. */
const PAGE = 100;

/** End of a run, as a `call_end` mark says it. */
export interface EndSign {
  readonly outcome: CallOutcome;
  /** Revisions that the run started from or replaced, which were stored then; none where state and log are saved together. */
  readonly stored: readonly string[];
  /** Revision that the save behind the mark was to produce. */
  readonly to?: string | undefined;
  /** Run that wrote the mark for one that died. */
  readonly by?: string | undefined;
  /** Revision that the save which the mark was written for was to produce, in a mark of another run. */
  readonly with?: string | undefined;
  /** Number of messages that a run which died or could not save its end had saved. */
  readonly kept?: number | undefined;
  /** The save left what another process had saved as it was. */
  readonly isMerged: boolean;
  /** The run says that its last save failed. */
  readonly isUnsaved: boolean;
}

/** Part of a record that is needed to find the outcomes of runs. */
export interface OutcomeSign {
  readonly seq: number;
  readonly callId: string;
  readonly runId: string;
  readonly isMessage: boolean;
  /** The mark names a call instead of a run, as an earlier release wrote it for a run that died. */
  readonly isOfCall: boolean;
  readonly end: EndSign | null;
}

/** Reads a session's records forwards and caches one contiguous range of them: readers ask for neighbours. */
export class OutcomeSigns {
  readonly #log: Pick<ConversationLog, "read">;
  readonly #slot: Slot;
  /** Every record after this seq up to {@link #last} is in {@link #signs}. */
  #after = 0;
  #last = 0;
  #signs: readonly OutcomeSign[] = [];
  #isAtEnd = false;
  /** Settles when nothing is being read: the range is extended by one reader at a time. */
  #reading: Promise<unknown> = Promise.resolve();

  constructor(log: Pick<ConversationLog, "read">, slot: Slot) {
    this.#log = log;
    this.#slot = slot;
  }

  /** Returns the next records after a seq, at most a page beyond the cached ones; none at the end of the log. */
  behind(seq: number): Promise<readonly OutcomeSign[]> {
    const found = this.#reading.then(() => this.#behind(seq));
    this.#reading = found.catch(() => undefined);
    return found;
  }

  async #behind(seq: number): Promise<readonly OutcomeSign[]> {
    if (seq < this.#after) return this.#readUpTo(seq);
    if (seq < this.#last) return this.#signs.filter((sign) => sign.seq > seq);
    if (seq > this.#last) this.#keep(seq, []);
    if (this.#isAtEnd) return [];
    const page = await this.#read(seq);
    this.#keep(this.#after, [...this.#signs, ...page], seq);
    this.#isAtEnd = page.length < PAGE;
    return page;
  }

  /** Seq of the last record that was read. */
  get last(): number {
    return this.#last;
  }

  /** Looks for records behind the end of the log again when it is next asked for them. */
  readOn(): void {
    this.#isAtEnd = false;
  }

  /** Reads records before the cached range, and joins the two when they meet. */
  async #readUpTo(seq: number): Promise<readonly OutcomeSign[]> {
    const page = await this.#read(seq, this.#after + 1);
    if (page.length < PAGE) {
      const isAtEnd = this.#isAtEnd;
      this.#keep(seq, [...page, ...this.#signs], this.#last);
      this.#isAtEnd = isAtEnd;
      return this.#signs;
    }
    this.#keep(seq, page);
    return page;
  }

  #keep(after: number, signs: readonly OutcomeSign[], last: number = after): void {
    this.#after = after;
    this.#signs = signs;
    this.#last = signs.at(-1)?.seq ?? last;
    this.#isAtEnd = false;
  }

  async #read(after: number, before?: number): Promise<OutcomeSign[]> {
    const page = await this.#log.read(this.#slot, { after, before, limit: PAGE });
    return page.map((record) => ({
      seq: record.seq,
      callId: record.callId,
      runId: runIdOf(record),
      isMessage: record.kind === "message",
      isOfCall: record.id.endsWith(".before"),
      end: endIn(record),
    }));
  }
}

const runPrefix = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\./;

/** Returns the id of the run that a record belongs to: the engine puts it in front of the record's id; else the `callId`. */
export function runIdOf({ id, callId }: Pick<LogRecord, "id" | "callId">): string {
  return runPrefix.exec(id)?.[1] ?? callId;
}

/** Returns the place of a message among those of its run; undefined for its input and for other records. */
export function messagePlace({ id }: Pick<LogRecord, "id">): number | undefined {
  const place = runPrefix.test(id) ? id.slice(id.indexOf(".") + 1) : "";
  return /^\d+$/.test(place) ? Number(place) : undefined;
}

/** Tells whether a record is a message of its run's input. */
export function isInput({ id, kind }: Pick<LogRecord, "id" | "kind">): boolean {
  return kind === "message" && runPrefix.test(id) && id.split(".")[1] === "input";
}

/** Returns the id of the run that put another one right with this record; undefined for other records. */
export function repairerOf({ id }: Pick<LogRecord, "id">): string | undefined {
  const [, kind, writer] = id.split(".");
  return runPrefix.test(id) && kind === "repair" ? writer : undefined;
}

function endIn({ mark }: LogRecord): EndSign | null {
  if (mark?.name !== "call_end" || mark.outcome === undefined) return null;
  const { from, over, to, by, with: written, kept, saved, merged } = mark.details ?? {};
  return {
    outcome: mark.outcome,
    isUnsaved: saved === false,
    isMerged: merged === true,
    stored: [from, ...(Array.isArray(over) ? over : [])].filter((one) => typeof one === "string"),
    ...(typeof to === "string" && { to }),
    ...(typeof by === "string" && { by }),
    ...(typeof written === "string" && { with: written }),
    ...(typeof kept === "number" && { kept }),
  };
}
