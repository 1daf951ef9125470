import { type DistributedStore, type Slot, StateCorruptError } from "@holdfast/core";
import { type LoadedState, loadWhole, retryWrite } from "@holdfast/core/store-kit";
import { recordsOf } from "../transfer/log-records.js";
import { isSameBeside, SessionDigest, type SessionSummary } from "../transfer/session-digest.js";
import { SessionTarget } from "../transfer/session-target.js";
import { storedSummary } from "../transfer/stored-summary.js";
import { underLease } from "../transfer/under-lease.js";
import { compareSession, entryIds } from "./compare-session.js";
import type { StorePair } from "./open-pair.js";
import { refusedOutcome, type SessionOutcome } from "./session-outcome.js";
import { isTransient } from "./with-retries.js";

/** Attempts at a session that is saved while it is read. */
const ATTEMPTS = 3;

/** Options of {@link copySession}. */
export interface CopyOptions {
  /** Time to wait for a session in use on the target; 0 does not wait. */
  readonly waitMs: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/**
 * Copies a session to the target, unless it is there, then reads everything back and compares it.
 *
 * The session's lease on the target is held until the copy is verified. The log is written first and the state last,
 * atomically: a reader sees no state, or the whole state with its whole log.
 *
 * @throws SessionBusyError | StoreError
 */
export async function copySession(
  pair: StorePair,
  slot: Slot,
  { waitMs, signal }: CopyOptions,
): Promise<SessionOutcome> {
  const stored = await loadWhole(pair.target.stateStore, slot);
  const wanted = stored && (await loadWhole(pair.source.stateStore, slot));
  const isSettled = (await entryIds(pair.source, slot)).length === 0;
  if (stored !== null && stored.revision === wanted?.revision && isSettled) {
    const compared = await compareSession(pair, slot, { stored, wanted });
    // A session in use on the target may differ for a moment; only a positive result counts.
    if (compared.kind === "present" || compared.kind === "ahead") return compared;
  }
  return underLease(pair.target, slot, { waitMs, signal, holder: "migrate" }, async (lease) => {
    const copy = new SessionTarget(pair.target, slot, lease);
    try {
      return await new SessionCopy(pair, slot, copy).run();
    } catch (error) {
      // After a transient error the next attempt continues from here; a permanent one leaves nothing behind.
      if (!isTransient(error)) await copy.discard().catch(() => false);
      throw error;
    }
  });
}

/** Returns whether a store still has this state. */
async function isStill(
  { stateStore }: StorePair["source"],
  slot: Slot,
  state: LoadedState | null,
): Promise<boolean> {
  if (state === null) return (await stateStore.load(slot)) === null;
  return (await stateStore.load(slot, state.revision)) === "unchanged";
}

class SessionCopy {
  readonly #pair: StorePair;
  readonly #slot: Slot;
  readonly #copy: SessionTarget;

  constructor(pair: StorePair, slot: Slot, copy: SessionTarget) {
    this.#pair = pair;
    this.#slot = slot;
    this.#copy = copy;
  }

  async run(): Promise<SessionOutcome> {
    const { source, target } = this.#pair;
    for (let attempt = 1; ; attempt++) {
      const wanted = await loadWhole(source.stateStore, this.#slot);
      const digest = new SessionDigest();
      const records = recordsOf(source.log, this.#slot);
      const verdict = await this.#copy.align(wanted, records, digest);
      const isEmpty = wanted === null && digest.records === 0;
      if (isEmpty && (await entryIds(source, this.#slot)).length === 0) return this.#gone();
      const summary = digest.summary();
      if (verdict.kind === "same") {
        const isNew = isEmpty && (await entryIds(target, this.#slot)).length === 0;
        const kind = isNew ? "copied" : "present";
        const { stored } = this.#copy;
        return this.#finish(await verifyCopy(target, this.#slot, stored, summary, kind));
      }
      if (verdict.kind === "ahead") return { kind: "ahead", slot: this.#slot, summary };
      if (verdict.kind !== "behind") {
        // The records appended before may be of a session that was deleted and recreated at the source.
        if ((await this.#copy.discard()) && attempt < ATTEMPTS) continue;
        const states = { wanted, stored: this.#copy.stored };
        return refusedOutcome(this.#pair, this.#slot, verdict, states);
      }
      const isMoving = !(await isStill(source, this.#slot, wanted));
      if (isMoving && (await loadWhole(source.stateStore, this.#slot)) === null)
        return this.#gone();
      if (isMoving && attempt < ATTEMPTS) continue;
      const isUpdate = this.#copy.stored !== null;
      await this.#copy.save(wanted);
      const kind = isUpdate ? "updated" : "copied";
      const { stored } = this.#copy;
      const outcome =
        wanted !== null && stored !== null && !isSameBeside(wanted, stored)
          ? mismatch(this.#slot, summary, "its call records or facts are other ones on the target")
          : await verifyCopy(target, this.#slot, stored, summary, kind);
      return { ...(await this.#finish(outcome)), isMoving };
    }
  }

  /** Copies what waits in the inbox of a session whose state, if it has one, is on the target. An entry that is there already stays. */
  async #finish(outcome: SessionOutcome): Promise<SessionOutcome> {
    const { source, target } = this.#pair;
    const entries = (await source.stateStore.inbox?.read(this.#slot)) ?? [];
    if (entries.length === 0) return outcome;
    const { inbox } = target.stateStore;
    if (inbox === undefined) {
      const reason = `${entries.length} entries wait in its inbox, and the target has none`;
      return { ...outcome, kind: "mismatch", reason };
    }
    for (const entry of entries) await retryWrite(this.#slot, () => inbox.put(this.#slot, entry));
    return { ...outcome, entries: entries.map(({ id }) => id) };
  }

  async #gone(): Promise<SessionOutcome> {
    await this.#copy.discard();
    return { kind: "gone", slot: this.#slot };
  }
}

/**
 * Reads a whole copy back and compares it with the source.
 *
 * @param stored - its state, just read back
 * @param kind - outcome if it is equal
 */
async function verifyCopy(
  target: DistributedStore,
  slot: Slot,
  stored: LoadedState | null,
  summary: SessionSummary,
  kind: "copied" | "updated" | "present",
): Promise<SessionOutcome> {
  try {
    const found = await storedSummary(target, slot, stored, { records: summary.records });
    if (found.sha256 === summary.sha256) return { kind, slot, summary };
    return mismatch(slot, summary, differenceOf(summary, found));
  } catch (error) {
    if (!StateCorruptError.is(error)) throw error;
    return mismatch(slot, summary, error.message);
  }
}

function mismatch(slot: Slot, summary: SessionSummary, reason: string): SessionOutcome {
  return { kind: "mismatch", slot, summary, reason };
}

function differenceOf(wanted: SessionSummary, found: SessionSummary): string {
  if (found.revision !== wanted.revision) return "the target has another revision";
  for (const count of ["messages", "records"] as const)
    if (found[count] !== wanted[count])
      return `the source has ${wanted[count]} ${count}, the target ${found[count]}`;
  return `the counts are the same and the hashes are not: ${wanted.sha256.slice(0, 12)} and ${found.sha256.slice(0, 12)}`;
}
