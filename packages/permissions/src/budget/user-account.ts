import type { Slot } from "@holdfast/core";
import type { Account, SpendingStep } from "./account.js";
import type { BudgetUse } from "./budget-events.js";
import { type LimitUse, limitsReached, type Spend, type SpendLimit } from "./spend.js";
import type { CountKey, SpendCounter } from "./spend-counter.js";

/** Parts of a {@link UserAccount}. */
export interface UserAccountParts {
  readonly limit: SpendLimit;
  readonly warnAt: number;
  readonly windowMs: number | undefined;
  readonly counter: SpendCounter;
  /** Name under which the counts of users are kept. */
  readonly account: string;
  now(): Date;
}

/** Counts the spends of a user in the key-value store, over all sessions and nodes; those of an anonymous session by itself. */
export class UserAccount implements Account {
  readonly #parts: UserAccountParts;

  constructor(parts: UserAccountParts) {
    this.#parts = parts;
  }

  async exceeded({ slot }: SpendingStep): Promise<BudgetUse | null> {
    const { counter, limit } = this.#parts;
    const key = this.#keyOf(slot);
    const [reached] = limitsReached(limit, await counter.read(key));
    return reached ? this.#named(reached, key) : null;
  }

  async add({ slot }: SpendingStep, spend: Spend): Promise<readonly BudgetUse[]> {
    const { counter, limit, warnAt } = this.#parts;
    const key = this.#keyOf(slot);
    const { before, after } = await counter.add(key, spend);
    // Counts form one sequence on all nodes, so that one of them alone crosses the threshold.
    const known = new Set(limitsReached(limit, before, warnAt).map(({ unit }) => unit));
    return limitsReached(limit, after, warnAt)
      .filter(({ unit }) => !known.has(unit))
      .map((use) => this.#named(use, key));
  }

  /** Deletes the count of a user, or of a session that has none. */
  async delete(owner: Pick<Slot, "userId" | "sessionId">): Promise<void> {
    await this.#parts.counter.delete(this.#keyOf(owner));
  }

  #keyOf({ userId, sessionId }: Pick<Slot, "userId" | "sessionId">): CountKey {
    const { account, windowMs, now } = this.#parts;
    const window = windowMs === undefined ? 0 : Math.floor(now().getTime() / windowMs);
    return userId === null
      ? { namespace: ["budget", account, "anonymous"], key: sessionId, window }
      : { namespace: ["budget", account, "users"], key: userId, window };
  }

  #named(use: LimitUse, { window = 0 }: CountKey): BudgetUse {
    const { windowMs } = this.#parts;
    const end = windowMs === undefined ? undefined : new Date((window + 1) * windowMs);
    return { scope: "user", ...use, ...(end && { resetsAt: end.toISOString() }) };
  }
}
