import type { AgentState, CallStep, EventBody, Slot } from "@holdfast/core";
import { slotKey } from "@holdfast/core/store-kit";

/** Call of a session that runs in this process. */
export interface LiveCall {
  readonly callId: string;
  readonly state: AgentState;
  emit(event: EventBody): void;
}

/** Calls that run in this process, by session: subagents that work for them go by their state and report to them. */
export class LiveCalls {
  readonly #calls = new Map<string, LiveCall>();

  get(slot: Slot): LiveCall | null {
    return this.#calls.get(slotKey(slot)) ?? null;
  }

  /** Runs `work` while the call counts as running. */
  async during<T>(step: CallStep, work: () => Promise<T>): Promise<T> {
    const key = slotKey(step.slot);
    const call: LiveCall = {
      callId: step.ctx.callId ?? "",
      get state() {
        return step.state;
      },
      emit: (event) => step.emit(event),
    };
    this.#calls.set(key, call);
    try {
      return await work();
    } finally {
      if (this.#calls.get(key) === call) this.#calls.delete(key);
    }
  }
}
