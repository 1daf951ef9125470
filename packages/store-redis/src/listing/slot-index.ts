import type { Slot, SlotInfo, SlotPage, SlotQuery } from "@holdfast/core";
import { checkLimit, matchInfo, matchSlot } from "@holdfast/core/store-kit";
import type { RedisConnection } from "../connection/redis-connection.js";
import { isNumber, isText, listOf, tuple } from "../connection/reply-shape.js";
import {
  agentIndexKey,
  agentsKey,
  logIndexKey,
  partKey,
  userIndexKey,
  waitingIndexKey,
} from "../keys.js";
import { entryPage, PARALLEL } from "./entry-page.js";
import { type FoundSession, lookUpSession } from "./look-up-session.js";
import { mergeEntries } from "./merge-entries.js";
import { type PinnedEntry, PinnedListing } from "./pinned-listing.js";
import {
  type EntryOrder,
  type IndexEntry,
  newestFirst,
  oldestFirst,
  RecentTouches,
  SessionIndex,
} from "./session-index.js";
import { readSlotMember, readWaitMember, SHARDS, shardOf, slotMember } from "./slot-member.js";
import { isOfSession, WaitingIndex } from "./waiting-index.js";

/**
 * Index of existing sessions: one index per agent and user, and one per agent, in shards.
 *
 * Contract:
 * - An index is not written atomically with the state, and at most once a minute per slot. Creating a session touches it
 *   first, deleting one forgets it first: so no session is missing, and an entry whose session does not exist is skipped and
 *   eventually dropped. A session that was never saved exists while its inbox holds an input.
 * - A listing misses no slot that is there all the time; one that is saved meanwhile may come twice.
 */
export class SlotIndex {
  /** Sessions whose tool calls wait for an answer. */
  readonly waiting: WaitingIndex;
  readonly #connection: RedisConnection;
  readonly #keyPrefix: string;
  readonly #ttlMs: number | undefined;
  readonly #index: SessionIndex;
  readonly #touches = new RecentTouches();
  readonly #keeps = new RecentTouches();

  constructor(
    connection: RedisConnection,
    options: {
      readonly keyPrefix: string;
      readonly ttlMs: number | undefined;
      readonly minReplicas: number;
    },
  ) {
    this.#connection = connection;
    this.#keyPrefix = options.keyPrefix;
    this.#ttlMs = options.ttlMs;
    this.#index = new SessionIndex(connection, options.ttlMs);
    const { keyPrefix, ttlMs, minReplicas } = options;
    const keysOf = (slot: Slot): string[] => this.#keysOf(slot);
    this.waiting = new WaitingIndex(connection, this.#index, {
      ...{ keyPrefix, ttlMs, minReplicas, keysOf },
    });
  }

  /** Tells whether this process has not touched a slot within the last minute. */
  isDue(slot: Slot, at: number): boolean {
    return !this.#touches.isRecent(slotMember(slot), at);
  }

  /**
   * Moves a slot to the front; does nothing when it is not due.
   *
   * @param isNew - the slot is about to get its first state: another process may have deleted it within that minute
   */
  async touch(slot: Slot, at: number, isNew = false): Promise<void> {
    const member = slotMember(slot);
    if (!isNew && !this.isDue(slot, at)) return;
    const touched = this.#keysOf(slot).map((key) => this.#touchIn(key, member, at));
    await Promise.all([...touched, this.#indexAgent(slot)]);
    this.#touches.remember(member, at);
  }

  /**
   * Keeps the indexes of a session that was loaded or whose call runs, where sessions expire; at most once a minute, beside
   * other commands. A failure is left to the next time: an index lives minutes longer than its sessions.
   */
  keep(slot: Slot): void {
    if (this.#ttlMs === undefined) return;
    const [member, at] = [slotMember(slot), Date.now()];
    if (this.#touches.isRecent(member, at) || this.#keeps.isRecent(member, at)) return;
    this.#keeps.remember(member, at);
    const { agentId, userId, sessionId } = slot;
    const kept = this.#keysOf(slot).map((key) => this.#index.keep(key, member, at, "add"));
    if (userId !== null) {
      const logs = logIndexKey(this.#keyPrefix, agentId, userId);
      kept.push(this.#index.keep(logs, sessionId, at, "leave"));
    }
    Promise.all([...kept, this.#indexAgent(slot)]).catch(() => this.#keeps.forget(member));
  }

  /** Adds a slot that may have an input and no state. */
  async add(slot: Slot, at: number, deadlineMs?: number): Promise<void> {
    const member = slotMember(slot);
    const keys = this.#keysOf(slot);
    const touched = keys.map((key) => this.#index.touch(key, member, at, { deadlineMs }));
    await Promise.all([...touched, this.#indexAgent(slot, deadlineMs)]);
  }

  /** Removes a slot, before its state is deleted. */
  async forget(slot: Slot): Promise<void> {
    const member = slotMember(slot);
    this.#touches.forget(member);
    await Promise.all(this.#keysOf(slot).map((key) => this.#index.remove(key, member)));
  }

  /** @throws InvalidInputError | InvalidIdError | StoreUnavailableError */
  async list(query: SlotQuery = {}): Promise<SlotPage> {
    const limit = checkLimit(query.limit, 100);
    const [matches, isSelected] = [matchSlot(query), matchInfo(query)];
    const { agentId, userId, waiting = false } = query;
    const listing = new PinnedListing(query.cursor, JSON.stringify([agentId, userId, waiting]));
    const keys = await this.#keysFor(query);
    const isIndexed = query.waiting === true && (await this.#isIndexed(listing, keys));
    const wanted = Math.ceil(limit / Math.max(keys.length, 1)) + 8;
    const isSearch = query.unfinished === true || (query.waiting === true && !isIndexed);
    const batch = isSearch ? PARALLEL : Math.min(wanted, PARALLEL);
    const entries = this.#entries(listing, isIndexed ? keys.map(waitingIndexKey) : keys, batch);
    const look = async (entry: IndexEntry): Promise<SlotInfo | null> => {
      if (isIndexed) return this.waiting.look(entry);
      const found = await this.#look(entry);
      if (found !== null && query.waiting === true) await this.waiting.adopt(found);
      return found?.listed ?? null;
    };
    const { items: slots, last } = await entryPage(entries, limit, async (entry) => {
      const listed = await look(entry);
      return listed !== null && matches(listed.slot) && isSelected(listed.info) ? listed : null;
    });
    if (last !== undefined) return { slots, cursor: listing.cursorBehind(last) };
    if (query.waiting === true && !isIndexed && listing.isWhole)
      await this.waiting.setComplete(keys);
    return { slots };
  }

  /** Tells whether a listing of the sessions that wait reads their indexes: its first page decides, as it has their order. */
  async #isIndexed({ after }: PinnedListing, keys: readonly string[]): Promise<boolean> {
    return after === undefined
      ? this.waiting.isComplete(keys)
      : readWaitMember(after.member) !== null;
  }

  async *#entries(
    listing: PinnedListing,
    keys: readonly string[],
    batch: number,
  ): AsyncGenerator<PinnedEntry, void, void> {
    const read = (after: IndexEntry | undefined, order: EntryOrder) =>
      mergeEntries(
        keys.map((key) => this.#index.entries(key, batch, after, order)),
        order,
      );
    if (!listing.after?.isLate)
      for await (const entry of read(listing.after, newestFirst))
        if (isOfSession(entry)) yield listing.early(entry);
    for await (const entry of read(listing.lateAfter, oldestFirst)) {
      const late = isOfSession(entry) ? listing.late(entry) : null;
      if (late !== null) yield late;
    }
  }

  async #indexAgent({ agentId }: Slot, deadlineMs?: number): Promise<void> {
    await this.#index.addAgent(agentsKey(this.#keyPrefix), agentId, { deadlineMs });
  }

  async #touchIn(key: string, member: string, at: number): Promise<void> {
    await this.#index.touch(key, member, at);
    if (this.#ttlMs === undefined) return;
    const exists = async (other: string) => (await this.#find(readSlotMember(other), 0)) !== null;
    await this.#index.sweep(key, this.#ttlMs, at, exists, (entry) => this.#dropEverywhere(entry));
  }

  /** Drops the entry of an expired session from all indexes: those of a user who does not return are swept by no one else. */
  async #dropEverywhere({ member, score }: IndexEntry): Promise<void> {
    const slot = readSlotMember(member);
    if (slot === null) return;
    const { agentId, userId, sessionId } = slot;
    await Promise.all(this.#keysOf(slot).map((key) => this.#index.drop(key, { member, score })));
    const log = partKey(this.#keyPrefix, slot, "log");
    const options = { reply: isNumber };
    if (userId === null) return;
    if ((await this.#connection.send("looking for a log", "EXISTS", [log], options)) !== 0) return;
    await this.#index.drop(logIndexKey(this.#keyPrefix, agentId, userId), {
      member: sessionId,
      score,
    });
  }

  /** Returns the session of an entry; null when it does not exist. */
  async #look(entry: IndexEntry): Promise<FoundSession | null> {
    const slot = readSlotMember(entry.member);
    const found = await this.#find(slot, entry.score);
    if (found === null && slot !== null)
      await Promise.all(this.#keysOf(slot).map((key) => this.#index.drop(key, entry)));
    return found;
  }

  async #find(slot: Slot | null, touchedAt: number): Promise<FoundSession | null> {
    if (slot === null) return null;
    return lookUpSession(this.#connection, this.#keyPrefix, slot, touchedAt);
  }

  /** Keys of the indexes that contain a slot. */
  #keysOf(slot: Slot): string[] {
    const { agentId, userId } = slot;
    return [
      userIndexKey(this.#keyPrefix, agentId, userId),
      agentIndexKey(this.#keyPrefix, agentId, shardOf(slot)),
    ];
  }

  /** Keys of the indexes that answer a query. */
  async #keysFor({ agentId, userId }: SlotQuery): Promise<string[]> {
    const agents = agentId === undefined ? await this.#agents() : [agentId];
    if (userId !== undefined)
      return agents.map((agent) => userIndexKey(this.#keyPrefix, agent, userId));
    const shards = Array.from({ length: SHARDS }, (_, shard) => shard);
    return agents.flatMap((agent) =>
      shards.map((shard) => agentIndexKey(this.#keyPrefix, agent, shard)),
    );
  }

  async #agents(): Promise<string[]> {
    const agents = new Set<string>();
    let cursor = "0";
    do {
      const args = [agentsKey(this.#keyPrefix), cursor, "COUNT", 500];
      const reply = await this.#connection.send("listing agents", "SSCAN", args, {
        reply: tuple(isText, listOf(isText)),
      });
      const [next, found] = Array.isArray(reply) ? reply : [];
      for (const agent of Array.isArray(found) ? found : []) agents.add(String(agent));
      cursor = String(next ?? "0");
    } while (cursor !== "0");
    return [...agents];
  }
}
