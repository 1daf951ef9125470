import { deepFreeze } from "../../json/json.js";
import type { Signal } from "../../ports/signal-bus.js";
import { Heartbeat } from "../lease/heartbeat.js";
import type { DocumentSource } from "../list-documents.js";
import { type GateDocument, isGateDocument } from "./gate-document.js";
import { SeenEntries } from "./seen-entries.js";
import { SharedDocuments } from "./shared-documents.js";

/** Times of a gate over documents. */
export interface GateTimes {
  readonly leaseMs: number;
  /** Time between two looks at the gate of a slot that calls of this process hold or wait for. */
  readonly pollMs: number;
}

/** Claim or listener of this process whose gate is watched. */
export interface WatchedEntry {
  readonly callId: string;
  /** The claim holds the slot; false for listeners outside the queue. */
  isHeld: boolean;
  /** Called when a claim that waits is first in the queue, and when one that held the slot is not. */
  wake(): void;
}

/** Listener to the signals of a call: hears each signal once. */
export class SignalListener {
  readonly #handler: (signal: Signal) => void;
  readonly #heard = new Set<string>();
  #isClosed = false;

  constructor(handler: (signal: Signal) => void) {
    this.#handler = handler;
  }

  hear(id: string, text: string): void {
    if (this.#isClosed || this.#heard.has(id)) return;
    this.#heard.add(id);
    try {
      this.#handler(deepFreeze(JSON.parse(text) as Signal));
    } catch {
      // A handler that throws does not keep its next signal away.
    }
  }

  close(): void {
    this.#isClosed = true;
  }
}

/** Entries of this process in the gate of one slot, and the timer that reads it. */
interface GateWatch {
  readonly entries: Map<string, WatchedEntry>;
  readonly poll: Heartbeat;
}

/**
 * Gates of all slots, one document each, and the part of them that belongs to this process.
 *
 * A gate is read every `pollMs` while a call of this process holds it, waits for it or listens. Whatever is read or written
 * is shown to all of them: a wake-up or a signal never needs a read of its own.
 */
export class GateDocuments {
  readonly documents: SharedDocuments<GateDocument>;
  readonly seen: SeenEntries;
  readonly #pollMs: number;
  readonly #watches = new Map<string, GateWatch>();
  readonly #listeners = new Map<string, Set<SignalListener>>();

  constructor(source: DocumentSource, { leaseMs, pollMs }: GateTimes) {
    this.#pollMs = pollMs;
    this.seen = new SeenEntries(leaseMs);
    this.documents = new SharedDocuments(source, {
      suffix: "-gate",
      isDocument: isGateDocument,
      onSeen: (name, gate) => this.#show(name, gate),
    });
  }

  /** Watches the gate for an entry; returns the function that ends that. */
  watch(name: string, token: string, entry: WatchedEntry): () => void {
    const watch = this.#watches.get(name) ?? this.#newWatch(name);
    this.#watches.set(name, watch);
    watch.entries.set(token, entry);
    return () => {
      watch.entries.delete(token);
      if (watch.entries.size > 0) return;
      void watch.poll.stop();
      if (this.#watches.get(name) === watch) this.#watches.delete(name);
    };
  }

  /** Marks a watched claim as the one that holds the slot. */
  wasGranted(name: string, token: string): void {
    const entry = this.#watches.get(name)?.entries.get(token);
    if (entry !== undefined) entry.isHeld = true;
  }

  /** Tells whether a call has a listener in this process. */
  hasListener(name: string, callId: string): boolean {
    return this.#listeners.has(name + callId);
  }

  /** Adds a listener to the calls of this id; returns the function that removes it. */
  addListener(name: string, callId: string, listener: SignalListener): () => void {
    const key = name + callId;
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(key) === listeners)
        this.#listeners.delete(key);
    };
  }

  /** Ends all watches. */
  close(): void {
    for (const { poll } of this.#watches.values()) void poll.stop();
    this.#watches.clear();
    this.#listeners.clear();
  }

  #newWatch(name: string): GateWatch {
    const poll = new Heartbeat(async () => {
      // Found at the next look.
      await this.documents.read(name, "looking at a gate").catch(() => undefined);
      return this.#pollMs;
    });
    poll.schedule(this.#pollMs);
    return { entries: new Map(), poll };
  }

  #show(name: string, gate: GateDocument | null): void {
    this.seen.observe(name, gate);
    const { entries } = this.#watches.get(name) ?? {};
    if (entries === undefined) return;
    const first = gate?.claims[0]?.token;
    for (const [token, entry] of [...entries]) {
      const isFirst = token === first;
      if (isFirst !== entry.isHeld) entry.wake();
    }
    for (const { id, to, text } of gate?.signals ?? []) {
      const { callId } = entries.get(to) ?? {};
      if (callId === undefined) continue;
      for (const listener of [...(this.#listeners.get(name + callId) ?? [])])
        listener.hear(id, text);
    }
  }
}
