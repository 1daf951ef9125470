import type { SessionInfo, Slot, SlotInfo, SlotPage, SlotQuery } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import { checkLimit, listedInfo, matchSlot } from "@holdfast/core/store-kit";
import type { RedisConnection, RedisReply } from "../connection/redis-connection.js";
import { isNumber, isText, isTextOrNull, listOf, tuple } from "../connection/reply-shape.js";
import { defineScript } from "../connection/script.js";
import { inboxLua } from "../inbox/inbox-lua.js";
import { agentIndexKey, agentsKey, logIndexKey, partKey, userIndexKey } from "../keys.js";
import { entryPage, PARALLEL } from "./entry-page.js";
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
import { readSlotMember, SHARDS, shardOf, slotMember } from "./slot-member.js";

/** Looks up what a listing shows of a session. KEYS: state, inbox. Returns n, at, info, and 1 when the inbox holds an input. */
const lookScript = defineScript(
  "look",
  false,
  `${inboxLua}
local found = redis.call('HMGET', KEYS[1], 'n', 'at', 'info')
return {found[1], found[2], found[3], has_input(KEYS[2])}
`,
  tuple(isTextOrNull, isTextOrNull, isTextOrNull, isNumber),
);

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
  readonly #connection: RedisConnection;
  readonly #keyPrefix: string;
  readonly #ttlMs: number | undefined;
  readonly #index: SessionIndex;
  readonly #touches = new RecentTouches();
  readonly #keeps = new RecentTouches();

  constructor(
    connection: RedisConnection,
    options: { readonly keyPrefix: string; readonly ttlMs: number | undefined },
  ) {
    this.#connection = connection;
    this.#keyPrefix = options.keyPrefix;
    this.#ttlMs = options.ttlMs;
    this.#index = new SessionIndex(connection, options.ttlMs);
  }

  /**
   * Moves a slot to the front; does nothing when this process did so within the last minute.
   *
   * @param isNew - the slot is about to get its first state: another process may have deleted it within that minute
   */
  async touch(slot: Slot, at: number, isNew = false): Promise<void> {
    const member = slotMember(slot);
    if (!isNew && this.#touches.isRecent(member, at)) return;
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
    const touched = keys.map((key) => this.#index.touch(key, member, at, deadlineMs));
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
    const matches = matchSlot(query);
    const listing = new PinnedListing(query.cursor);
    const keys = await this.#keysFor(query);
    const wanted = Math.ceil(limit / Math.max(keys.length, 1)) + 8;
    const batch = query.unfinished === true ? PARALLEL : Math.min(wanted, PARALLEL);
    const entries = this.#entries(listing, keys, batch);
    const { items: slots, last } = await entryPage(entries, limit, async (entry) => {
      const listed = await this.#look(entry);
      if (listed === null || !matches(listed.slot)) return null;
      return query.unfinished === true && listed.info?.unfinished !== true ? null : listed;
    });
    return last === undefined ? { slots } : { slots, cursor: listing.cursorBehind(last) };
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
      for await (const entry of read(listing.after, newestFirst)) yield listing.early(entry);
    for await (const entry of read(listing.lateAfter, oldestFirst)) {
      const late = listing.late(entry);
      if (late !== null) yield late;
    }
  }

  async #indexAgent({ agentId }: Slot, deadlineMs?: number): Promise<void> {
    await this.#index.addAgent(agentsKey(this.#keyPrefix), agentId, deadlineMs);
  }

  async #touchIn(key: string, member: string, at: number): Promise<void> {
    await this.#index.touch(key, member, at);
    if (this.#ttlMs === undefined) return;
    const exists = async (other: string) => (await this.#infoOf(readSlotMember(other), 0)) !== null;
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

  /** Returns the listed item of an entry; null when its session does not exist. */
  async #look(entry: IndexEntry): Promise<SlotInfo | null> {
    const slot = readSlotMember(entry.member);
    const info = await this.#infoOf(slot, entry.score);
    if (info === null && slot !== null)
      await Promise.all(this.#keysOf(slot).map((key) => this.#index.drop(key, entry)));
    return info;
  }

  /** @param touchedAt - time of a session that was never saved */
  async #infoOf(slot: Slot | null, touchedAt: number): Promise<SlotInfo | null> {
    if (slot === null) return null;
    const keys = [partKey(this.#keyPrefix, slot, "state"), partKey(this.#keyPrefix, slot, "inbox")];
    const reply = await this.#connection.run("listing sessions", lookScript, keys, []);
    const [messages, at, text, hasInput] = Array.isArray(reply) ? reply : [];
    const isSaved = typeof messages === "string" && typeof at === "string";
    if (!isSaved && hasInput !== 1) return null;
    const info = listedInfo(readInfo(text), hasInput === 1);
    const updatedAt = new Date(isSaved ? Number(at) : touchedAt).toISOString();
    const listed = { slot, updatedAt, messages: isSaved ? Number(messages) : 0 };
    return info === undefined ? listed : { ...listed, info };
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

/** Reads the facts stored with a state; what cannot be read is left out. */
function readInfo(text: RedisReply | undefined): SessionInfo | undefined {
  if (typeof text !== "string") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
