import { type DistributedStore, type LoadedState, type Slot, StoreError } from "@holdfast/core";
import { AppendBatches, alignLog } from "./align-log.js";
import type { PortableRecord } from "./log-records.js";
import type { SessionDigest } from "./session-digest.js";
import { type SessionVerdict, sessionVerdict } from "./session-verdict.js";
import { type StateRelation, saveCopy, stateRelation } from "./state-copy.js";
import type { HeldLease } from "./under-lease.js";

/** Puts one session into a store while its lease is held: first the log, at last the state. */
export class SessionTarget {
  readonly #parts: DistributedStore;
  readonly #slot: Slot;
  readonly #lease: HeldLease;
  #isFirstLook = true;
  #stored: LoadedState | null = null;
  #relation: StateRelation = "absent";
  /** All of the log was appended here. */
  #isOwnLog = true;
  /** Records of earlier looks. */
  #appended = 0;
  #batches: AppendBatches | undefined;
  #mayBeSaved = false;

  constructor(parts: DistributedStore, slot: Slot, lease: HeldLease) {
    this.#parts = parts;
    this.#slot = slot;
    this.#lease = lease;
  }

  /** The state that was there when {@link align} looked, or that {@link save} has put there, read back; null for none. */
  get stored(): LoadedState | null {
    return this.#stored;
  }

  /**
   * Compares state and log with what should be there, and appends the records that are missing, but for the last batch,
   * which is for {@link save}. A session that is not the beginning of that is left as it is.
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
    this.#relation = await stateRelation(stateStore, this.#slot, stored, wanted);
    const mayWrite = ["absent", "same", "older"].includes(this.#relation);
    const batches = new AppendBatches(log, this.#slot, () => this.#lease.check());
    const before = this.#allAppended;
    this.#appended = before;
    this.#batches = batches;
    try {
      const alignment = await alignLog(log, this.#slot, records, digest, mayWrite ? batches : null);
      return sessionVerdict(this.#relation, alignment);
    } finally {
      const wasThere = digest.records - batches.added;
      this.#isOwnLog &&= wasThere <= before;
    }
  }

  /** Appends the rest of the log and saves the state, in one step where the store can. */
  async save(wanted: LoadedState | null): Promise<void> {
    const { stateStore, gate, log } = this.#parts;
    const isSaved = wanted !== null && this.#relation !== "same";
    if (!isSaved || stateStore.fuses?.log !== log) await this.#batches?.flush();
    if (!isSaved) return;
    this.#lease.check();
    const rest = this.#batches?.takeRest() ?? [];
    try {
      this.#mayBeSaved = true;
      this.#stored = await saveCopy(stateStore, this.#slot, wanted, {
        expected: this.#stored?.revision ?? null,
        lease: stateStore.fuses?.gate === gate ? this.#lease.token : undefined,
        log: rest.length > 0 ? rest : undefined,
      });
    } catch (error) {
      this.#mayBeSaved = !StoreError.is(error) || error.mayHaveApplied;
      throw error;
    }
  }

  /** Takes back a log that was begun here, when its state will not come; whether there was one. */
  async takeBack(): Promise<boolean> {
    if (this.#mayBeSaved || !this.#isOwnLog || this.#allAppended === 0) return false;
    // What is deleted must not be the next holder's: the store is asked, since a lease may end unnoticed.
    const { stateStore, log } = this.#parts;
    if (!(await this.#lease.isHeld()) || (await stateStore.load(this.#slot)) !== null) return false;
    await log.delete(this.#slot);
    this.#appended = 0;
    this.#batches = undefined;
    return true;
  }

  get #allAppended(): number {
    return this.#appended + (this.#batches?.appended ?? 0);
  }

  async #load(): Promise<LoadedState | null> {
    // The lease may have brought it along; for a second look it is too old.
    const brought = this.#isFirstLook ? this.#lease.loaded : undefined;
    this.#isFirstLook = false;
    const stored = brought === undefined ? await this.#parts.stateStore.load(this.#slot) : brought;
    return stored === "unchanged" ? null : stored;
  }
}
