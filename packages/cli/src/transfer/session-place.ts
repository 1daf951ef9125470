import type { DistributedStore, Lease, LoadedState, LogDraft, Slot } from "@holdfast/core";
import { alignLog } from "./align-log.js";
import { AppendBatches } from "./append-batches.js";
import { saveCopy } from "./copy-op.js";
import type { PortableRecord } from "./portable-record.js";
import type { SessionDigest } from "./session-digest.js";
import { type SessionVerdict, sessionVerdict } from "./session-verdict.js";
import { type StateRelation, stateRelation } from "./state-relation.js";
import { checkHeld } from "./under-lease.js";

/** Puts one session into a store while its lease is held: first the log, at last the state. */
export class SessionPlace {
  readonly #parts: DistributedStore;
  readonly #slot: Slot;
  readonly #lease: Lease;
  #isFirstLook = true;
  #stored: LoadedState | null = null;
  #relation: StateRelation = "absent";
  /** All of the log was appended here. */
  #isOwnLog = true;
  #appended = 0;
  /** Records that go with the state, in one step. */
  #rest: readonly LogDraft[] = [];

  constructor(parts: DistributedStore, slot: Slot, lease: Lease) {
    this.#parts = parts;
    this.#slot = slot;
    this.#lease = lease;
  }

  /** The state that was there when {@link align} looked; null for none. */
  get stored(): LoadedState | null {
    return this.#stored;
  }

  /**
   * Compares state and log with what should be there, and appends the records that are missing. A session that is not the
   * beginning of that is left as it is.
   *
   * @param digest - takes in state and records; to be a new one
   */
  async align(
    wanted: LoadedState | null,
    records: AsyncIterable<PortableRecord>,
    digest: SessionDigest,
  ): Promise<SessionVerdict> {
    const { stateStore, log } = this.#parts;
    if (wanted !== null) digest.state(wanted);
    const stored = await this.#load();
    this.#stored = stored;
    this.#rest = [];
    this.#relation = await stateRelation(stateStore, this.#slot, stored, wanted);
    const mayWrite = this.#relation !== "own" && this.#relation !== "newer";
    const batches = new AppendBatches(log, this.#slot, () => checkHeld(this.#lease));
    const before = this.#appended;
    try {
      const alignment = await alignLog(log, this.#slot, records, digest, mayWrite ? batches : null);
      const isSaved = wanted !== null && this.#relation !== "same";
      if (isSaved && stateStore.fuses?.log === log) this.#rest = batches.takeRest();
      else await batches.flush();
      return sessionVerdict(this.#relation, alignment);
    } finally {
      const wasThere = digest.records - batches.added;
      this.#isOwnLog &&= wasThere <= before;
      this.#appended += batches.appended;
    }
  }

  /** Saves the state behind its log; does nothing where it is there already. */
  async save(wanted: LoadedState | null): Promise<void> {
    if (wanted === null || this.#relation === "same") return;
    checkHeld(this.#lease);
    const { stateStore, gate } = this.#parts;
    await saveCopy(stateStore, this.#slot, wanted, {
      expected: this.#stored?.revision ?? null,
      lease: stateStore.fuses?.gate === gate ? this.#lease.token : undefined,
      log: this.#rest.length > 0 ? this.#rest : undefined,
    });
  }

  /** Takes back a log that was begun here, when its state will not come; whether there was one. */
  async takeBack(): Promise<boolean> {
    if (this.#stored !== null || !this.#isOwnLog || this.#appended === 0) return false;
    if (this.#lease.lost.aborted) return false;
    await this.#parts.log.delete(this.#slot);
    this.#appended = 0;
    return true;
  }

  async #load(): Promise<LoadedState | null> {
    // The lease may have brought it along; for a second look it is too old.
    const brought = this.#isFirstLook ? this.#lease.loaded : undefined;
    this.#isFirstLook = false;
    const stored = brought === undefined ? await this.#parts.stateStore.load(this.#slot) : brought;
    return stored === "unchanged" ? null : stored;
  }
}
