import type { DistributedStore, Slot } from "@holdfast/core";
import { slotText } from "@holdfast/core/store-kit";
import type { SessionSummary } from "../transfer/session-digest.js";
import type { SessionOutcome } from "./session-outcome.js";

/** Sessions that are remembered; one that was dropped is compared in full once more. */
const KEPT = 200_000;

/** Session as it was copied. */
interface SeenSession {
  readonly summary: SessionSummary;
  /** Ids of its inbox entries. */
  readonly entries: readonly string[];
}

/** Tells later passes which sessions changed at the source since they were copied, with three small reads each. */
export class SeenSessions {
  readonly #source: Pick<DistributedStore, "stateStore" | "log">;
  readonly #seen = new Map<string, SeenSession | "settled">();

  constructor(source: Pick<DistributedStore, "stateStore" | "log">) {
    this.#source = source;
  }

  /** Excludes a session from later passes. */
  settle(slot: Slot): void {
    this.#keep(slot, "settled");
  }

  /**
   * Records the state of a session on the target.
   *
   * @returns the one recorded before, if any
   */
  copied(
    { slot, entries = [] }: SessionOutcome,
    summary: SessionSummary,
  ): SessionSummary | undefined {
    const before = this.#seen.get(slotText(slot));
    this.#keep(slot, { summary, entries });
    return before === "settled" ? undefined : before?.summary;
  }

  /** Returns whether there may be something to copy. */
  async hasChanged(slot: Slot): Promise<boolean> {
    const seen = this.#seen.get(slotText(slot));
    if (seen === undefined) return true;
    if (seen === "settled") return false;
    const { stateStore, log } = this.#source;
    const { revision, lastRecordId } = seen.summary;
    const state = await stateStore.load(slot, revision ?? undefined);
    if (state !== (revision === null ? null : "unchanged")) return true;
    const [last] = await log.read(slot, { limit: 1 });
    if ((last?.id ?? null) !== lastRecordId) return true;
    const entries = (await stateStore.inbox?.read(slot)) ?? [];
    return entries.some(({ id }) => !seen.entries.includes(id));
  }

  #keep(slot: Slot, seen: SeenSession | "settled"): void {
    const key = slotText(slot);
    this.#seen.delete(key);
    this.#seen.set(key, seen);
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > KEPT && oldest !== undefined) this.#seen.delete(oldest);
  }
}
