import { createHash } from "node:crypto";
import {
  HoldfastError,
  type Slot,
  type SlotInfo,
  type SlotPage,
  type SlotQuery,
} from "@holdfast/core";
import { checkLimit, checkSlot, matchSlot, slotKey } from "@holdfast/core/store-kit";
import type { RedisConnection } from "../connection/redis-connection.js";
import { agentIndexKey, agentsKey, partKey, userIndexKey } from "../keys.js";
import { entryPage, PARALLEL, readCursor } from "./entry-page.js";
import { mergeEntries } from "./merge-entries.js";
import { type IndexEntry, RecentTouches, SessionIndex } from "./session-index.js";

/** Shards of an agent's index, so that not all sessions of a busy agent are on one node of a cluster. */
const SHARDS = 16;

/**
 * Index of existing sessions: one index per agent and user, and one per agent, in shards.
 *
 * Contract:
 * - An index is not written atomically with the state, and at most once a minute per slot. Creating a session touches it
 *   first, deleting one forgets it first: so no session is missing, and an entry whose session does not exist is skipped and
 *   eventually dropped.
 * - A listing shows no slot twice, even when slots are saved meanwhile. One that is saved while being listed moves to the front
 *   and may be missing from later pages.
 */
export class SlotIndex {
  readonly #connection: RedisConnection;
  readonly #keyPrefix: string;
  readonly #ttlMs: number | undefined;
  readonly #index: SessionIndex;
  readonly #touches = new RecentTouches();

  constructor(
    connection: RedisConnection,
    options: { readonly keyPrefix: string; readonly ttlMs: number | undefined },
  ) {
    this.#connection = connection;
    this.#keyPrefix = options.keyPrefix;
    this.#ttlMs = options.ttlMs;
    this.#index = new SessionIndex(connection);
  }

  /**
   * Moves a slot to the front; does nothing when this process did so within the last minute.
   *
   * @param isNew - the slot is about to get its first state: another process may have deleted it within that minute
   */
  async touch(slot: Slot, at: number, isNew = false): Promise<void> {
    const member = slotMember(slot);
    if (!isNew && this.#touches.isRecent(member, at)) return;
    await Promise.all([
      ...this.#keysOf(slot).map((key) => this.#touchIn(key, member, at)),
      this.#connection.send(
        "indexing an agent",
        "SADD",
        [agentsKey(this.#keyPrefix), slot.agentId],
        { writes: true },
      ),
    ]);
    this.#touches.remember(member, at);
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
    const after = query.cursor === undefined ? undefined : readCursor(query.cursor);
    const keys = await this.#keysFor(query);
    const batch = Math.min(Math.ceil(limit / Math.max(keys.length, 1)) + 8, PARALLEL);
    const entries = mergeEntries(keys.map((key) => this.#index.entries(key, batch, after)));
    const { items: slots, cursor } = await entryPage(entries, limit, async (entry) => {
      const info = await this.#look(entry);
      return info !== null && matches(info.slot) ? info : null;
    });
    return cursor === undefined ? { slots } : { slots, cursor };
  }

  async #touchIn(key: string, member: string, at: number): Promise<void> {
    await this.#index.touch(key, member, at);
    if (this.#ttlMs === undefined) return;
    const exists = async (other: string) => (await this.#infoOf(readSlotMember(other))) !== null;
    await this.#index.sweep(key, this.#ttlMs, at, exists);
  }

  /** Returns the listed item of an entry; null when its session does not exist. */
  async #look(entry: IndexEntry): Promise<SlotInfo | null> {
    const slot = readSlotMember(entry.member);
    const info = await this.#infoOf(slot);
    if (info === null && slot !== null)
      await Promise.all(this.#keysOf(slot).map((key) => this.#index.drop(key, entry)));
    return info;
  }

  async #infoOf(slot: Slot | null): Promise<SlotInfo | null> {
    if (slot === null) return null;
    const key = partKey(this.#keyPrefix, slot, "state");
    const reply = await this.#connection.send("listing sessions", "HMGET", [key, "n", "at"]);
    const [messages, at] = Array.isArray(reply) ? reply : [];
    if (typeof messages !== "string" || typeof at !== "string") return null;
    return { slot, updatedAt: new Date(Number(at)).toISOString(), messages: Number(messages) };
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
      const reply = await this.#connection.send("listing agents", "SSCAN", args);
      const [next, found] = Array.isArray(reply) ? reply : [];
      for (const agent of Array.isArray(found) ? found : []) agents.add(String(agent));
      cursor = String(next ?? "0");
    } while (cursor !== "0");
    return [...agents];
  }
}

function shardOf(slot: Slot): number {
  return (createHash("sha256").update(slotKey(slot)).digest()[0] ?? 0) % SHARDS;
}

/** Encodes a slot as an entry of an index. */
function slotMember({ agentId, userId, sessionId }: Slot): string {
  return JSON.stringify([agentId, userId, sessionId]);
}

/** Decodes an entry of an index; null when it is not a slot. */
function readSlotMember(member: string): Slot | null {
  try {
    const [agentId, userId, sessionId] = JSON.parse(member);
    return checkSlot({ agentId, userId, sessionId });
  } catch (error) {
    if (HoldfastError.is(error) || error instanceof SyntaxError || error instanceof TypeError)
      return null;
    throw error;
  }
}
