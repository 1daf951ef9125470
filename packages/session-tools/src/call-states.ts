import type { CallOutcome, ConversationLog, LogRecord, Slot } from "@holdfast/core";
import type { YieldingClock } from "@holdfast/core/plugin-kit";
import { CallOutcomes, isDiscarded } from "@holdfast/core/store-kit";
import { type Caller, isSame } from "./caller.js";

/** What is said about a record whose call did not simply succeed. */
const remarks: Readonly<Record<CallOutcome, string>> = {
  committed: "",
  interrupted: " (interrupted)",
  error: " (failed)",
  conflict: " (discarded: conflict)",
  rolled_back: " (discarded: rolled back)",
};

/** Tells of records how their calls ended. */
export class CallStates {
  readonly #outcomes: CallOutcomes;
  readonly #caller: Caller;
  readonly #includeDiscarded: boolean;

  constructor(
    log: Pick<ConversationLog, "read">,
    caller: Caller,
    clock: YieldingClock,
    includeDiscarded: boolean | undefined,
  ) {
    // The end of a long call is far, and a log in memory never lets others run.
    this.#outcomes = new CallOutcomes({
      async read(slot, range) {
        await clock.tick();
        return log.read(slot, range);
      },
    });
    this.#caller = caller;
    this.#includeDiscarded = includeDiscarded ?? false;
  }

  /** What to say about the call of a record, mostly nothing; null when the record is not to be shown. */
  async remark(slot: Slot, record: LogRecord): Promise<string | null> {
    const outcome = await this.#outcomes.of(slot, record);
    if (outcome === null) {
      // Background work leaves marks too, and belongs to no call.
      if (record.kind === "mark") return "";
      const isHere = isSame(slot, this.#caller.slot) && record.callId === this.#caller.callId;
      return isHere ? " (this call)" : " (unfinished)";
    }
    return isDiscarded(outcome) && !this.#includeDiscarded ? null : remarks[outcome];
  }
}
