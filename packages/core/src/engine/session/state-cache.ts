import type { Revision } from "../../ports/agent-state-store.js";
import type { LiveState } from "../../state/live-state.js";
import type { OpenedState } from "./open-session.js";

/** A state exactly as the store holds it under `revision`. */
export interface CachedState {
  readonly state: LiveState;
  readonly revision: Revision;
}

/** A state that the store held when this process last heard of it: enough to tell that the store has lost it since. */
export interface KnownState {
  readonly revision: Revision;
  /** Id of its first message. */
  readonly firstId: string | undefined;
  /** Time of its last message, in ms; `NaN` without one. */
  readonly lastAt: number;
}

interface Entry {
  readonly known: KnownState;
  /** Absent while a visit has the state, and when it did not put it back. */
  readonly cached: CachedState | undefined;
  readonly bytes: number;
}

/** Bytes of an entry besides its parts: the key, the revision, the objects of a state. */
const ENTRY_BYTES = 2_048;
/** Bytes of a message beyond its text as JSON: its objects, and the notes that a context keeps of it. */
const MESSAGE_BYTES = 256;
/** Bytes that a character of JSON takes at most once it is parsed; the most is for lists of small numbers. */
const PARSED_BYTES = 4;

/**
 * The states this process saw saved last, and what it knows of those that are lent; least recently used first out.
 *
 * A state is handed over, not copied: its taker owns it, and puts it back only after the store acknowledged a
 * save, or when it has changed nothing. It is trusted only after the store said
 * that its revision is still the stored one.
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
    return this.#entries.get(key)?.cached;
  }

  /** Returns what is known of a session, also while its state is lent. */
  known(key: string): KnownState | undefined {
    return this.#entries.get(key)?.known;
  }

  /** Hands a state over to a visit: what is stored stays known. */
  lend(key: string, { state, revision }: OpenedState): void {
    this.take(key);
    if (revision !== null) this.#keep(key, { state, revision });
  }

  /** Forgets a session: its state, and what is known of it. */
  take(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }

  /** @param headChars - characters of the state's head as JSON, known from its save */
  put(key: string, state: LiveState, revision: Revision, headChars: number): void {
    this.take(key);
    const stateBytes =
      state.contextBytes() +
      MESSAGE_BYTES * state.messages.length +
      PARSED_BYTES * (headChars + state.recordChars());
    this.#keep(key, { state, revision }, stateBytes);
  }

  /** @param stateBytes - absent for a state that is lent */
  #keep(key: string, stored: CachedState, stateBytes?: number): void {
    const { messages } = stored.state;
    const bytes = ENTRY_BYTES + 2 * key.length + (stateBytes ?? 0);
    if (this.#maxSessions === 0 || bytes > this.#maxBytes) return;
    const lastAt = Date.parse(messages.at(-1)?.createdAt ?? "");
    const known = { revision: stored.revision, firstId: messages[0]?.id, lastAt };
    this.#entries.set(key, { known, cached: stateBytes === undefined ? undefined : stored, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#maxSessions && this.#bytes <= this.#maxBytes) break;
      this.take(oldest);
    }
  }
}
