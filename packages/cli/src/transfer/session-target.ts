import { type DistributedStore, type Slot, StoreError } from "@holdfast/core";
import type { LoadedState } from "@holdfast/core/store-kit";
import { isWhole, loadWhole } from "@holdfast/core/store-kit";
import { AppendBatches, alignLog } from "./align-log.js";
import type { PortableRecord } from "./log-records.js";
import type { SessionDigest } from "./session-digest.js";
import { type SessionVerdict, sessionVerdict } from "./session-verdict.js";
import { type StateRelation, saveCopy, stateRelation } from "./state-copy.js";
import type { CheckedLease } from "./under-lease.js";

/** Writes one session into a store while its lease is held: first the log, then the state. */
export class SessionTarget {
  readonly #parts: DistributedStore;
  readonly #slot: Slot;
  readonly #lease: CheckedLease;
  #isFirstLook = true;
  #stored: LoadedState | null = null;
  #relation: StateRelation = "absent";
  /** The whole log was appended by this object. */
  #isOwnLog = true;
  /** Records appended by earlier calls of {@link align}. */
  #appended = 0;
  #batches: AppendBatches | undefined;
  #mayBeSaved = false;

  constructor(parts: DistributedStore, slot: Slot, lease: CheckedLease) {
    this.#parts = parts;
    this.#slot = slot;
    this.#lease = lease;
  }

  /** State that {@link align} found or {@link save} wrote, as read back; null for none. */
  get stored(): LoadedState | null {
    return this.#stored;
  }

  /**
   * Compares state and log with the expected ones and appends the missing records, except the last batch, which
   * {@link save} writes. A session that is not a prefix of the expected one is left unchanged.
   *
   * @param digest - a new one; receives state and records
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

  /** Appends the rest of the log and saves the state, atomically where the store can. */
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
        stored: this.#stored,
        lease: stateStore.fuses?.gate === gate ? this.#lease.token : undefined,
        log: rest.length > 0 ? rest : undefined,
      });
    } catch (error) {
      this.#mayBeSaved = !StoreError.is(error) || error.mayHaveApplied;
      throw error;
    }
  }

  /** Deletes a log that this object began and whose state will not be saved. @returns whether there was one */
  async discard(): Promise<boolean> {
    if (this.#mayBeSaved || !this.#isOwnLog || this.#allAppended === 0) return false;
    // The log must not be the next holder's: the store is asked, since a lease may end unnoticed.
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
    // Loaded with the lease, if at all; too old for a second call.
    const brought = this.#isFirstLook ? this.#lease.loaded : undefined;
    this.#isFirstLook = false;
    if (brought === null || (brought !== undefined && isWhole(brought))) return brought;
    return loadWhole(this.#parts.stateStore, this.#slot);
  }
}
