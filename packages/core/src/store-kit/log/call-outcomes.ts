import type { CallOutcome, ConversationLog, LogRecord } from "../../ports/conversation-log.js";
import type { Slot } from "../../slot/slot.js";
import { slotText } from "../../slot/slot.js";
import { OutcomeSigns } from "./outcome-signs.js";

/** How far the end of a call is looked for; longer calls count as unfinished. */
const MAX_RECORDS = 20_000;
/** How far behind the end of another call: two that overlapped write one after the other, or in turns. */
const MAX_LATE_RECORDS = 100;

/**
 * Finds out how the calls ended whose records a reader has at hand.
 *
 * Of several `call_end` marks of a call the last one counts, but what was rolled back stays so. They stand behind its
 * records. Messages of a call behind its end are those of another run: a caller may use the id of a call again.
 */
export class CallOutcomes {
  readonly #log: Pick<ConversationLog, "read">;
  readonly #signs = new Map<string, OutcomeSigns>();

  constructor(log: Pick<ConversationLog, "read">) {
    this.#log = log;
  }

  /** How the call of a record ended; null when it has not, because it still runs or crashed. */
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

/** Whether what such a call said never became part of its session. */
export function isDiscarded(outcome: CallOutcome | null): boolean {
  return outcome === "conflict" || outcome === "rolled_back";
}
