import type { JsonObject, KeyValueStore } from "@holdfast/core";

/** How far a session is flushed, as it is stored. Times in milliseconds. */
export type SlotEntry = {
  /** Everything up to this record of the log is flushed. */
  readonly seq: number;
  /** When the last flush began, whatever came of it. */
  readonly flushedAt: number;
  /** When it was last found that there is nothing to flush. */
  readonly lookedAt: number;
  /** How often in a row it failed. */
  readonly failures: number;
  /** Whether the last flush left something for the next. */
  readonly hasMore?: boolean | undefined;
  /** Who is at it, until when that counts, and for how long they ask at a time. */
  readonly claim?:
    | { readonly token: string; readonly until: number; readonly holdMs?: number | undefined }
    | undefined;
  /** A note about to be appended: found there, everything up to `through` is flushed. */
  readonly pending?:
    | { readonly id: string; readonly path: string; readonly through: number }
    | undefined;
};

/** What a {@link SlotClaim} is made of. */
export interface SlotClaimParts {
  readonly place: {
    readonly keyValue: KeyValueStore;
    readonly namespace: readonly string[];
    readonly key: string;
  };
  readonly entry: SlotEntry;
  readonly version: string;
  /** As it was before it was claimed. */
  readonly before: SlotEntry;
  now(): number;
  readonly holdMs: number;
}

/**
 * The right to flush a session. Every change is bound to the one before: when somebody took over, or the session was
 * deleted, it is refused with `StateConflictError` and nothing comes back to life.
 */
export class SlotClaim {
  readonly #parts: SlotClaimParts;
  #entry: SlotEntry;
  #version: string;

  constructor(parts: SlotClaimParts) {
    this.#parts = parts;
    this.#entry = parts.entry;
    this.#version = parts.version;
  }

  get seq(): number {
    return this.#entry.seq;
  }

  /** When it was claimed. */
  get at(): number {
    return this.#parts.entry.flushedAt;
  }

  /** When the flush before began; 0 when there was none. */
  get before(): number {
    return this.#parts.before.flushedAt;
  }

  /** How often in a row it failed before. */
  get failures(): number {
    return this.#entry.failures;
  }

  get pending(): SlotEntry["pending"] {
    return this.#entry.pending;
  }

  /** Holds on to it, with a note about to be written or none. */
  async renew(pending?: SlotEntry["pending"]): Promise<void> {
    await this.#put(this.#held({ pending }));
  }

  /** Everything up to `seq` is flushed. */
  async advance(seq: number): Promise<void> {
    await this.#put(this.#held({ seq, pending: undefined }));
  }

  /** Gives it up after a flush, which may have left something. */
  async done(hasMore: boolean): Promise<void> {
    await this.#put({ ...this.#entry, failures: 0, hasMore, claim: undefined });
  }

  /** Gives it up because there was nothing to flush up to `seq`; that does not count as a flush. There may be more behind. */
  async nothing(seq: number, hasMore = false): Promise<void> {
    const { flushedAt } = this.#parts.before;
    const lookedAt = this.#parts.now();
    const free = { failures: 0, hasMore, claim: undefined };
    await this.#put({ ...this.#entry, seq, flushedAt, lookedAt, ...free });
  }

  /** Gives it up after a failure. */
  async failed(): Promise<void> {
    const failures = this.#entry.failures + 1;
    await this.#put({ ...this.#entry, failures, claim: undefined });
  }

  /** Gives it up without a trace: there is no session. */
  async forget(): Promise<void> {
    const { keyValue, namespace, key } = this.#parts.place;
    await keyValue.delete(namespace, key, { expected: this.#version });
  }

  #held(change: Partial<SlotEntry>): SlotEntry {
    const { claim } = this.#entry;
    const until = this.#parts.now() + this.#parts.holdMs;
    return { ...this.#entry, ...change, claim: claim && { ...claim, until } };
  }

  async #put(entry: SlotEntry): Promise<void> {
    const { keyValue, namespace, key } = this.#parts.place;
    const expected = this.#version;
    this.#version = await keyValue.put(namespace, key, entryValue(entry), { expected });
    this.#entry = entry;
  }
}

/** An entry as a value for a store: an absent field is one that is not there. */
export function entryValue(entry: SlotEntry): JsonObject {
  return JSON.parse(JSON.stringify(entry)) as JsonObject;
}
