import type { JsonObject, KeyValueStore } from "@holdfast/core";

/** Watermark of a session, as it is stored: how far it is flushed. Times in milliseconds. */
export type SlotEntry = {
  /** Everything up to this record of the log is flushed. */
  readonly seq: number;
  /** Start of the last flush, successful or not. */
  readonly flushedAt: number;
  /** Last time that there was nothing to flush. */
  readonly lookedAt: number;
  /** Failures in a row. */
  readonly failures: number;
  /** True when the last flush left something for the next. */
  readonly hasMore?: boolean | undefined;
  /** Claim of the process that flushes: its token, its expiry, and the time by which it is renewed. */
  readonly claim?:
    | { readonly token: string; readonly until: number; readonly holdMs?: number | undefined }
    | undefined;
  /** A note that is about to be appended; once it is in the file, everything up to `through` is flushed. */
  readonly pending?:
    | { readonly id: string; readonly path: string; readonly through: number }
    | undefined;
};

/** Parts of a {@link SlotClaim}. */
export interface SlotClaimParts {
  readonly place: {
    readonly keyValue: KeyValueStore;
    readonly namespace: readonly string[];
    readonly key: string;
  };
  readonly entry: SlotEntry;
  readonly version: string;
  /** The entry before the claim. */
  readonly before: SlotEntry;
  now(): number;
  readonly holdMs: number;
}

/**
 * The right to flush a session. Every change is a compare-and-set: after another process took over, or the session was
 * deleted, it fails with `StateConflictError` and writes nothing.
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

  /** Time of the claim. */
  get at(): number {
    return this.#parts.entry.flushedAt;
  }

  /** Start of the previous flush; 0 when there was none. */
  get before(): number {
    return this.#parts.before.flushedAt;
  }

  /** Failures in a row before this flush. */
  get failures(): number {
    return this.#entry.failures;
  }

  get pending(): SlotEntry["pending"] {
    return this.#entry.pending;
  }

  /** Renews the claim, and records a note that is about to be written, if any. */
  async renew(pending?: SlotEntry["pending"]): Promise<void> {
    await this.#put(this.#held({ pending }));
  }

  /** Records that everything up to `seq` is flushed. */
  async advance(seq: number): Promise<void> {
    await this.#put(this.#held({ seq, pending: undefined }));
  }

  /** Releases the claim after a flush, which may have left something. */
  async done(hasMore: boolean): Promise<void> {
    await this.#put({ ...this.#entry, failures: 0, hasMore, claim: undefined });
  }

  /** Releases the claim because there was nothing to flush up to `seq`, which does not count as a flush; there may be more. */
  async nothing(seq: number, hasMore = false): Promise<void> {
    const { flushedAt } = this.#parts.before;
    const lookedAt = this.#parts.now();
    const free = { failures: 0, hasMore, claim: undefined };
    await this.#put({ ...this.#entry, seq, flushedAt, lookedAt, ...free });
  }

  /** Releases the claim after a failure. */
  async failed(): Promise<void> {
    const failures = this.#entry.failures + 1;
    await this.#put({ ...this.#entry, failures, claim: undefined });
  }

  /** Deletes the entry, because the session does not exist. */
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

/** Returns an entry as a value for a store, without undefined fields. */
export function entryValue(entry: SlotEntry): JsonObject {
  return JSON.parse(JSON.stringify(entry)) as JsonObject;
}
