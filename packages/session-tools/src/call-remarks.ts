import type { LogRecord, Slot } from "@holdfast/core";
import type { YieldingClock } from "@holdfast/core/plugin-kit";
import { CallOutcomes, isDiscarded, type RunOutcome } from "@holdfast/core/store-kit";
import { type Caller, isSameSession } from "./caller.js";
import type { SessionToolParts } from "./session-tool.js";

/** Remarks on records, by the outcome of their call. */
const remarks: Readonly<Record<RunOutcome, string>> = {
  committed: "",
  interrupted: " (interrupted)",
  error: " (failed)",
  conflict: " (discarded: conflict)",
  rolled_back: " (discarded: rolled back)",
  unsaved: " (discarded: never saved)",
  unsettled: " (discarded: not saved yet)",
};

/** Remark on records of a call without an end. */
export const UNFINISHED = " (unfinished)";

/** Says how the calls of records ended. */
export class CallRemarks {
  readonly #outcomes: CallOutcomes;
  readonly #caller: Caller;
  readonly #includeDiscarded: boolean;

  constructor(
    { log, stateStore }: Pick<SessionToolParts, "log" | "stateStore">,
    caller: Caller,
    clock: YieldingClock,
    includeDiscarded: boolean | undefined,
  ) {
    // The end of a long call may be far away, and an in-memory log never yields.
    this.#outcomes = new CallOutcomes(
      {
        async read(slot, range) {
          await clock.tick();
          return log.read(slot, range);
        },
      },
      {
        agentId: caller.slot.agentId,
        stateStore: {
          // The call has its own session's state at hand: the head is all that is asked for.
          load: async (slot) =>
            caller.state && isSameSession(slot, caller.slot)
              ? { revision: "", head: caller.state.head(), messages: [] }
              : stateStore.load(slot),
        },
      },
    );
    this.#caller = caller;
    this.#includeDiscarded = includeDiscarded ?? false;
  }

  /** Returns a remark on the call of a record, mostly empty; null when the record must not be shown. */
  async remark(slot: Slot, record: LogRecord): Promise<string | null> {
    const outcome = await this.#outcomes.of(slot, record);
    if (outcome === null) {
      // Marks of background work belong to no call.
      if (record.kind === "mark") return "";
      const isHere =
        isSameSession(slot, this.#caller.slot) && record.callId === this.#caller.callId;
      return isHere ? " (this call)" : UNFINISHED;
    }
    return isDiscarded(outcome) && !this.#includeDiscarded ? null : remarks[outcome];
  }
}
