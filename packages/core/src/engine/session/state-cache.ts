import type { Revision } from "../../ports/agent-state-store.js";
import type { LiveState } from "../../state/live-state.js";

/** A state exactly as the store holds it under `revision`. */
export interface CachedState {
  readonly state: LiveState;
  readonly revision: Revision;
}

interface Entry extends CachedState {
  readonly bytes: number;
}

/**
 * The states this process saw saved last, least recently used first out.
 *
 * A state is handed over, not copied: whoever takes it owns it, and puts it back only after the store acknowledged a
 * save. It is trusted only after the store said that its revision is still the stored one.
 */
export class StateCache {
  readonly #entries = new Map<string, Entry>();
  readonly #maxSessions: number;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(limits: { readonly maxSessions: number; readonly maxBytes: number }) {
    this.#maxSessions = limits.maxSessions;
    this.#maxBytes = limits.maxBytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The entry, left where it is. */
  peek(key: string): CachedState | undefined {
    return this.#entries.get(key);
  }

  /** Removes the entry: after this the state belongs to the caller. */
  take(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }

  put(key: string, state: LiveState, revision: Revision): void {
    this.take(key);
    const bytes = state.contextBytes() + 1_024;
    if (this.#maxSessions === 0 || bytes > this.#maxBytes) return;
    this.#entries.set(key, { state, revision, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#maxSessions && this.#bytes <= this.#maxBytes) break;
      this.take(oldest);
    }
  }
}
