import type { Slot, SlotQuery } from "@holdfast/core";
import { slotText } from "@holdfast/core/store-kit";
import { Redis } from "ioredis";
import { afterAll, inject } from "vitest";
import { connect, type RedisConnection } from "../../src/connection/redis-connection.js";
import { partKey } from "../../src/keys.js";
import { SlotIndex } from "../../src/listing/slot-index.js";
import { keysBelow, ownPrefix } from "../log/redis-logs.js";

/** For looking at keys behind the index's back. */
export const client: Redis = new Redis(inject("redisUrl"));

/** What indexes work on unless a test says otherwise. */
export const connection: RedisConnection = connect(client, { commandTimeoutMs: 10_000 });

afterAll(async () => {
  await connection.close();
  client.disconnect();
});

/** An index, and sessions as the state store would keep them. */
export class Sessions {
  readonly keyPrefix: string;
  readonly index: SlotIndex;

  constructor(options: { ttlMs?: number; on?: RedisConnection; keyPrefix?: string } = {}) {
    this.keyPrefix = options.keyPrefix ?? ownPrefix();
    const { keyPrefix } = this;
    this.index = new SlotIndex(options.on ?? connection, {
      ...{ keyPrefix, ttlMs: options.ttlMs, minReplicas: 0 },
    });
  }

  async save(slot: Slot, at: number, messages = 3): Promise<void> {
    await this.index.touch(slot, at);
    await client.hset(partKey(this.keyPrefix, slot, "state"), "n", messages, "at", at);
  }

  /** Loses the state, as an expiry does. */
  async expire(slot: Slot): Promise<void> {
    await client.del(partKey(this.keyPrefix, slot, "state"));
  }

  async pages(query: SlotQuery): Promise<string[][]> {
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await this.index.list({ ...query, cursor });
      pages.push(page.slots.map(({ slot }) => slotText(slot)));
      cursor = page.cursor;
    } while (cursor !== undefined);
    return pages;
  }

  /** The keys of all indexes, with that of the set of agents. */
  async keys(): Promise<string[]> {
    const keys = await keysBelow(client, this.keyPrefix);
    return keys.filter((key) => /-sessions$|:agents$/.test(key));
  }

  /** The entries of all indexes. */
  async entries(): Promise<string[]> {
    const keys = (await this.keys()).filter((key) => key.endsWith("-sessions"));
    return (await Promise.all(keys.map((key) => client.zrange(key, "0", "-1")))).flat();
  }
}

/** A slot of `user` and `agent`, or of those given. */
export function slotOf(sessionId: string, userId: string | null = "user", agentId = "agent"): Slot {
  return { agentId, userId, sessionId };
}
