import { AgentState, type AgentStateStore, type PluginState, type Slot } from "@holdfast/core";
import { loadWhole } from "@holdfast/core/store-kit";
import type { Account, SpendingStep } from "./account.js";
import type { BudgetUse } from "./budget-events.js";
import { type BudgetState, counted, type StateLimit } from "./budget-state.js";
import { addSpend, limitsReached, nothingSpent, type Spend } from "./spend.js";
import type { CountKey, SpendCounter } from "./spend-counter.js";

/** Parts of a {@link SessionAccount}. */
export interface SessionAccountParts extends StateLimit {
  readonly state: PluginState<BudgetState>;
  /** Agent whose sessions are counted. */
  readonly agentId: string;
  readonly stateStore: AgentStateStore;
  readonly counter: SpendCounter;
}

/**
 * Counts the spends of a session: those of its calls in its state, those of work in the background, which has no state to
 * write, in the key-value store. Work that belongs to no session of the agent is not counted.
 */
export class SessionAccount implements Account {
  readonly #parts: SessionAccountParts;

  constructor(parts: SessionAccountParts) {
    this.#parts = parts;
  }

  async exceeded(step: SpendingStep): Promise<BudgetUse | null> {
    const { agentId, limit } = this.#parts;
    if (step.slot.agentId !== agentId) return null;
    const inCalls = await this.#inCalls(step);
    const [use] = limitsReached(limit, addSpend(inCalls, await this.#inBackground(step.slot)));
    return use ? { scope: "session", ...use } : null;
  }

  async add({ slot, state }: SpendingStep, spend: Spend): Promise<readonly BudgetUse[]> {
    const { agentId, counter, state: budget } = this.#parts;
    if (slot.agentId !== agentId) return [];
    if (state === null) {
      await counter.add(this.#keyOf(slot), spend);
      // The next call warns: only the state knows whether that has been done.
      return [];
    }
    const background = await this.#inBackground(slot);
    const { session, call } = budget.get(state);
    const total = addSpend(addSpend(session, spend), background);
    const { count, warnings } = counted(session, spend, total, "session", this.#parts);
    budget.set(state, { session: count, call });
    return warnings;
  }

  /** Deletes what is kept beside the session's state. */
  async delete(slot: Slot): Promise<void> {
    await this.#parts.counter.delete(this.#keyOf(slot));
  }

  /** In the background the session as it was last saved is what counts. */
  async #inCalls({ slot, state }: SpendingStep): Promise<Spend> {
    const { state: budget, stateStore } = this.#parts;
    if (state !== null) return budget.get(state).session;
    const stored = await loadWhole(stateStore, slot);
    return stored ? budget.get(AgentState.fromParts(stored)).session : nothingSpent;
  }

  #inBackground(slot: Slot): Promise<Spend> {
    return this.#parts.counter.read(this.#keyOf(slot));
  }

  #keyOf({ userId, sessionId }: Slot): CountKey {
    const { agentId } = this.#parts;
    const owner = userId === null ? ["anonymous"] : ["users", userId];
    return { namespace: ["budget-background", agentId, ...owner], key: sessionId };
  }
}
