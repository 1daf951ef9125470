import type { CallOutcome, ConversationLog, LogRecord } from "../../ports/conversation-log.js";
import type { Slot } from "../../slot/slot.js";
import { slotText } from "../../slot/slot.js";
import { OutcomeSigns } from "./outcome-signs.js";

/** Records searched for the end of a call; a longer call counts as unfinished. */
const MAX_RECORDS = 20_000;
/** Records searched behind the end of another call: calls that overlapped may have interleaved records. */
const MAX_LATE_RECORDS = 100;

/**
 * Finds the outcomes of calls from the records of a log.
 *
 * - A `call_end` mark comes after the records of its call. Of several marks the last one counts, but `rolled_back` is final.
 * - Messages with the same call id after the end belong to another run: a caller may reuse the id of a call.
 */
export class CallOutcomes {
  readonly #log: Pick<ConversationLog, "read">;
  readonly #signs = new Map<string, OutcomeSigns>();

  constructor(log: Pick<ConversationLog, "read">) {
    this.#log = log;
  }

  /** Returns the outcome of a record's call; null when it has none because it still runs or crashed. */
  async of(slot: Slot, record: LogRecord): Promise<CallOutcome | null> {
    const key = slotText(slot);
    const signs = this.#signs.get(key) ?? new OutcomeSigns(this.#log, slot);
    this.#signs.set(key, signs);
    return outcomeBehind(signs, record);
  }
}

async function outcomeBehind(
  signs: OutcomeSigns,
  { callId, seq }: LogRecord,
): Promise<CallOutcome | null> {
  let outcome: CallOutcome | null = null;
  let isPastAnother = false;
  let [seen, late] = [0, 0];
  for (let stretch = await signs.behind(seq); stretch.length > 0; ) {
    for (const sign of stretch) {
      if (++seen > MAX_RECORDS || (isPastAnother && ++late > MAX_LATE_RECORDS)) return outcome;
      if (sign.callId !== callId) isPastAnother ||= sign.outcome !== null;
      else if (sign.outcome === null) {
        if (outcome !== null && sign.isMessage) return outcome;
      } else if (outcome !== "rolled_back") outcome = sign.outcome;
    }
    stretch = await signs.behind(stretch.at(-1)?.seq ?? seq);
  }
  return outcome;
}

/** Tells whether the messages of a call with this outcome never became part of the session. */
export function isDiscarded(outcome: CallOutcome | null): boolean {
  return outcome === "conflict" || outcome === "rolled_back";
}
