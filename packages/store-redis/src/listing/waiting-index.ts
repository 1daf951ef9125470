import type { Slot, SlotInfo } from "@holdfast/core";
import type { RedisConnection } from "../connection/redis-connection.js";
import { waitingIndexKey } from "../keys.js";
import { type FoundSession, lookUpSession } from "./look-up-session.js";
import type { IndexEntry, SessionIndex } from "./session-index.js";
import { readWaitMember, waitMember } from "./slot-member.js";

/** Entry of an index that holds all sessions that wait, at a time later than any: no sweep of old entries reaches it. */
const COMPLETE: IndexEntry = { member: "complete", score: 8_640_000_000_000_000 };

/** Options of {@link WaitingIndex}. */
export interface WaitingIndexOptions {
  readonly keyPrefix: string;
  readonly ttlMs: number | undefined;
  readonly minReplicas: number;
  /** Returns the keys of the indexes of sessions that contain a slot. */
  keysOf(slot: Slot): readonly string[];
}

/**
 * Indexes of the sessions whose tool calls wait for an answer, one beside each index of sessions.
 *
 * Contract:
 * - An entry names the save from which its session waits, and the state names that save as well. It is written before the save,
 *   and removed after the one that ends the wait: so no session is missing, and a removal that comes late does not hit the entry
 *   of the next wait. Any other entry is skipped and eventually dropped.
 * - An index that does not say that it is complete may lack sessions saved by an earlier release; a listing then goes through all
 *   sessions, adds those that wait, and says so at its end. The note is in the index itself, so that it is lost with its entries.
 */
export class WaitingIndex {
  readonly #connection: RedisConnection;
  readonly #index: SessionIndex;
  readonly #options: WaitingIndexOptions;

  constructor(connection: RedisConnection, index: SessionIndex, options: WaitingIndexOptions) {
    this.#connection = connection;
    this.#index = index;
    this.#options = options;
  }

  /** Adds a session, before the save that makes it wait. */
  async add(slot: Slot, op: string): Promise<void> {
    const { ttlMs, minReplicas } = this.#options;
    const member = waitMember({ slot, since: JSON.stringify(op) });
    const at = Date.now();
    const exists = async (other: string) =>
      (await this.#waitOf({ member: other, score: 0 })) !== null;
    await Promise.all(
      this.#keysOf(slot).map(async (key) => {
        // Unlike the index of all sessions, no later save makes up for an entry that a failover loses.
        await this.#index.touch(key, member, at, { minReplicas });
        if (ttlMs !== undefined)
          await this.#index.sweep(key, ttlMs, at, exists, (gone) => this.#drop(gone));
      }),
    );
  }

  /**
   * Removes a session whose wait has ended, beside other commands: a failure leaves an entry that listings skip.
   *
   * @param since - what its state said
   */
  remove(slot: Slot, since: string): void {
    const member = waitMember({ slot, since });
    const removed = this.#keysOf(slot).map((key) => this.#index.remove(key, member));
    Promise.all(removed).catch(() => undefined);
  }

  /** Returns the session of an entry; null when it does not wait since the save that the entry names. */
  async look(entry: IndexEntry): Promise<SlotInfo | null> {
    const found = await this.#waitOf(entry);
    if (found === null) await this.#drop(entry);
    return found;
  }

  /** Adds a session that was found among all sessions, if it waits. */
  async adopt({ listed, waitsSince }: FoundSession): Promise<void> {
    const { slot, info } = listed;
    if (info?.waiting !== true) return;
    const member = waitMember({ slot, since: waitsSince });
    const keys = this.#keysOf(slot);
    await Promise.all(keys.map((key) => this.#index.keep(key, member, Date.now(), "add")));
  }

  /** Tells whether the indexes beside these hold every session that waits. */
  async isComplete(indexKeys: readonly string[]): Promise<boolean> {
    const keys = indexKeys.map(waitingIndexKey);
    const found = await Promise.all(keys.map((key) => this.#index.find(key, COMPLETE.member)));
    return found.every((entry) => entry !== null);
  }

  /** Notes that the indexes beside these hold every session that waits: all sessions of them were looked at. */
  async setComplete(indexKeys: readonly string[]): Promise<void> {
    const { member, score } = COMPLETE;
    const keys = indexKeys.map(waitingIndexKey);
    await Promise.all(keys.map((key) => this.#index.touch(key, member, score)));
  }

  async #waitOf({ member, score }: IndexEntry): Promise<SlotInfo | null> {
    const wait = readWaitMember(member);
    if (wait === null) return null;
    const found = await lookUpSession(this.#connection, this.#options.keyPrefix, wait.slot, score);
    if (found?.listed.info?.waiting !== true) return null;
    return found.waitsSince === wait.since ? found.listed : null;
  }

  async #drop(entry: IndexEntry): Promise<void> {
    const wait = readWaitMember(entry.member);
    if (wait === null) return;
    await Promise.all(this.#keysOf(wait.slot).map((key) => this.#index.drop(key, entry)));
  }

  #keysOf(slot: Slot): string[] {
    return this.#options.keysOf(slot).map(waitingIndexKey);
  }
}

/** Tells whether an entry is of a session, and not the note that an index is complete. */
export function isOfSession({ member }: IndexEntry): boolean {
  return member !== COMPLETE.member;
}
