import type { AgentState, PluginState } from "@holdfast/core";
import type { Account, SpendingStep } from "./account.js";
import type { BudgetUse } from "./budget-events.js";
import {
  type BudgetState,
  counted,
  newCount,
  type StateCount,
  type StateLimit,
} from "./budget-state.js";
import { addSpend, limitsReached, type Spend } from "./spend.js";

/** Counts the spends of one call of the agent, in the state: a call that another node goes on with is counted on. */
export class CallAccount implements Account {
  readonly #limit: StateLimit;
  readonly #state: PluginState<BudgetState>;

  constructor(limit: StateLimit, state: PluginState<BudgetState>) {
    this.#limit = limit;
    this.#state = state;
  }

  async exceeded({ callId, state }: SpendingStep): Promise<BudgetUse | null> {
    if (state === null) return null;
    const [use] = limitsReached(this.#limit.limit, this.#countOf(state, callId));
    return use ? { scope: "call", ...use } : null;
  }

  async add({ callId, state }: SpendingStep, spend: Spend): Promise<readonly BudgetUse[]> {
    if (state === null) return [];
    const before = this.#countOf(state, callId);
    const { count, warnings } = counted(
      before,
      spend,
      addSpend(before, spend),
      "call",
      this.#limit,
    );
    const call = { callId, count };
    this.#state.set(state, { ...this.#state.get(state), call });
    return warnings;
  }

  #countOf(state: AgentState, callId: string): StateCount {
    const { call } = this.#state.get(state);
    return call?.callId === callId ? call.count : newCount();
  }
}
