import { setTimeout as sleep } from "node:timers/promises";
import { type KeyValueStore, StateConflictError, StateCorruptError } from "@holdfast/core";
import { KeyedQueue } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { addSpend, nothingSpent, type Spend } from "./spend.js";

/** Place of a count in the key-value store. */
export interface CountKey {
  readonly namespace: readonly string[];
  readonly key: string;
  /** Number of the window that is counted; a count of an earlier window starts over. @default 0 */
  readonly window?: number | undefined;
}

/** Attempts at a write that writes of other nodes come before. */
const ATTEMPTS = 60;
/** Longest pause between two attempts. */
const MAX_PAUSE_MS = 250;

const amount = s.number().min(0);
const storedCount = s.object({ window: s.int(), tokens: amount, money: amount });

interface ReadCount {
  readonly spent: Spend;
  readonly window: number;
  readonly version: string | null;
}

/**
 * Counts spends in the key-value store, by compare-and-set: nodes that count at once never lose what another has counted.
 * Counts of one process are written one after the other, so that only nodes compete.
 */
export class SpendCounter {
  readonly #keyValue: KeyValueStore;
  readonly #queue = new KeyedQueue();

  constructor(keyValue: KeyValueStore) {
    this.#keyValue = keyValue;
  }

  /** Returns the count of the window. */
  async read(at: CountKey): Promise<Spend> {
    return (await this.#read(at)).spent;
  }

  /**
   * Adds to the count, and returns it as it was before and after.
   *
   * @throws StateConflictError when other nodes wrote first in every attempt
   */
  add(at: CountKey, spend: Spend): Promise<{ readonly before: Spend; readonly after: Spend }> {
    const { namespace, key } = at;
    return this.#queue.run(JSON.stringify([namespace, key]), async () => {
      for (let attempt = 1; ; attempt++) {
        const { spent: before, window, version } = await this.#read(at);
        const after = addSpend(before, spend);
        try {
          await this.#keyValue.put(namespace, key, { window, ...after }, { expected: version });
          return { before, after };
        } catch (error) {
          if (!StateConflictError.is(error) || attempt === ATTEMPTS) throw error;
        }
        // Exponential backoff with full jitter
        await sleep(Math.random() * Math.min(2 ** attempt, MAX_PAUSE_MS));
      }
    });
  }

  /** Deletes the count. */
  async delete({ namespace, key }: CountKey): Promise<void> {
    await this.#keyValue.delete(namespace, key);
  }

  async #read({ namespace, key, window = 0 }: CountKey): Promise<ReadCount> {
    const stored = await this.#keyValue.get(namespace, key);
    if (stored === null) return { spent: nothingSpent, window, version: null };
    const { version, value } = stored;
    const { data } = storedCount.safeParse(value);
    if (!data)
      throw new StateCorruptError(
        `the count of budget() at key ${JSON.stringify(key)} of namespace ${JSON.stringify(namespace)} does not have its form. Delete the key to count from zero`,
      );
    // A node whose clock is ahead may have begun the next window already: it is not taken back.
    if (data.window < window) return { spent: nothingSpent, window, version };
    const { tokens, money } = data;
    return { spent: { tokens, money }, window: data.window, version };
  }
}
