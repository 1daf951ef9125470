import { type Slot, slotText } from "../slot/slot.js";
import { type StoredState, savedInfo } from "./stored-state.js";

/** States by slot, in the order of their last save, and an index of those whose tool calls wait for an answer. */
export class StoredStates {
  readonly #states = new Map<string, StoredState>();
  readonly #waiting = new Map<string, StoredState>();

  get(slot: Slot): StoredState | undefined {
    return this.#states.get(slotText(slot));
  }

  /** Stores a state in place of the one before; it becomes the last one saved. */
  put(state: StoredState): void {
    this.delete(state.slot);
    const key = slotText(state.slot);
    this.#states.set(key, state);
    if (savedInfo(state)?.waiting === true) this.#waiting.set(key, state);
  }

  /** Deletes a state; returns false when there was none. */
  delete(slot: Slot): boolean {
    const key = slotText(slot);
    this.#waiting.delete(key);
    return this.#states.delete(key);
  }

  /** Returns all states, oldest save first. */
  all(): StoredState[] {
    return [...this.#states.values()];
  }

  /** Returns the states of sessions that wait, oldest save first; does not look at the others. */
  waiting(): StoredState[] {
    return [...this.#waiting.values()];
  }
}
