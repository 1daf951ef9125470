import type { Slot, SlotQuery } from "@holdfast/core";
import { slotText } from "@holdfast/core/store-kit";
import { Redis } from "ioredis";
import { afterAll, inject } from "vitest";
import { connect, type RedisConnection } from "../../src/connection/redis-connection.js";
import { partKey } from "../../src/keys.js";
import { SlotIndex } from "../../src/listing/slot-index.js";
import { keysBelow, ownPrefix } from "../log/redis-logs.js";

/** What the tests of a file work on. */
export interface IndexLab {
  /** For looking at keys behind the index's back. */
  readonly client: Redis;
  /** What indexes work on unless a test says otherwise. */
  readonly connection: RedisConnection;
  sessions(options?: SessionsOptions): Sessions;
}

/** Options of {@link IndexLab.sessions}. */
export interface SessionsOptions {
  readonly ttlMs?: number;
  readonly on?: RedisConnection;
  readonly keyPrefix?: string;
}

/** Connects for the tests of one file, and closes after them: files in one worker share this module. */
export function indexLab(): IndexLab {
  const client = new Redis(inject("redisUrl"));
  const connection = connect(client, { commandTimeoutMs: 10_000 });
  afterAll(async () => {
    await connection.close();
    client.disconnect();
  });
  return {
    client,
    connection,
    sessions: ({ on = connection, ...options } = {}) => new Sessions(client, on, options),
  };
}

/** An index, and sessions as the state store would keep them. */
class Sessions {
  readonly keyPrefix: string;
  readonly index: SlotIndex;
  readonly #client: Redis;

  constructor(client: Redis, on: RedisConnection, options: Omit<SessionsOptions, "on">) {
    this.#client = client;
    this.keyPrefix = options.keyPrefix ?? ownPrefix();
    const { keyPrefix } = this;
    this.index = new SlotIndex(on, {
      ...{ keyPrefix, ttlMs: options.ttlMs, minReplicas: 0 },
    });
  }

  async save(slot: Slot, at: number, messages = 3): Promise<void> {
    await this.index.touch(slot, at);
    await this.#client.hset(partKey(this.keyPrefix, slot, "state"), "n", messages, "at", at);
  }

  /** Loses the state, as an expiry does. */
  async expire(slot: Slot): Promise<void> {
    await this.#client.del(partKey(this.keyPrefix, slot, "state"));
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
    const keys = await keysBelow(this.#client, this.keyPrefix);
    return keys.filter((key) => /-sessions$|:agents$/.test(key));
  }

  /** The entries of all indexes. */
  async entries(): Promise<string[]> {
    const keys = (await this.keys()).filter((key) => key.endsWith("-sessions"));
    return (await Promise.all(keys.map((key) => this.#client.zrange(key, "0", "-1")))).flat();
  }
}

/** A slot of `user` and `agent`, or of those given. */
export function slotOf(sessionId: string, userId: string | null = "user", agentId = "agent"): Slot {
  return { agentId, userId, sessionId };
}
