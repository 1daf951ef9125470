import type { CallOutcome, ConversationLog, LogRecord } from "../../ports/conversation-log.js";
import type { Slot } from "../../slot/slot.js";

/** Records read at a time. */
const PAGE = 100;

/** Part of a record that is needed to find the outcomes of calls. */
export interface OutcomeSign {
  readonly seq: number;
  readonly callId: string;
  readonly isMessage: boolean;
  /** Outcome in a `call_end` mark; null in other records. */
  readonly outcome: CallOutcome | null;
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

  constructor(log: Pick<ConversationLog, "read">, slot: Slot) {
    this.#log = log;
    this.#slot = slot;
  }

  /** Returns the next records after a seq, at most a page beyond the cached ones; none at the end of the log. */
  async behind(seq: number): Promise<readonly OutcomeSign[]> {
    if (seq < this.#after) return this.#readUpTo(seq);
    if (seq < this.#last) return this.#signs.filter((sign) => sign.seq > seq);
    if (seq > this.#last) this.#keep(seq, []);
    if (this.#isAtEnd) return [];
    const page = await this.#read(seq);
    this.#keep(this.#after, [...this.#signs, ...page], seq);
    this.#isAtEnd = page.length < PAGE;
    return page;
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
      isMessage: record.kind === "message",
      outcome: outcomeIn(record),
    }));
  }
}

/** Returns the outcome in a `call_end` mark; null for every other record. */
export function outcomeIn({ mark }: LogRecord): CallOutcome | null {
  return mark?.name === "call_end" ? (mark.outcome ?? null) : null;
}
