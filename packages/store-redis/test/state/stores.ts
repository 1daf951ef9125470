import type { Message, Slot } from "@holdfast/core";
import { AgentState, userMessage } from "@holdfast/core";
import type { LoadedState, StateWrite } from "@holdfast/core/store-kit";
import { loadWhole, uuidv7 } from "@holdfast/core/store-kit";
import { type RedisServer, type TcpProxy, tcpProxy } from "@holdfast/testing/servers";
import type { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, inject } from "vitest";
import { partKey, type SlotPart } from "../../src/keys.js";
import {
  RedisAgentStateStore,
  type RedisAgentStateStoreOptions,
} from "../../src/state/redis-agent-state-store.js";
import { ioredis, ownPrefix } from "./servers.js";

export const slot: Slot = { agentId: "agent", userId: "user", sessionId: "session" };

/** A first save of messages; `fields` override. */
export function firstWrite(texts: readonly string[], fields: Partial<StateWrite> = {}): StateWrite {
  return {
    ...{ op: uuidv7(), expected: null, keep: 0, replace: [] },
    head: AgentState.create(slot).head(),
    append: messages(texts),
    ...fields,
  };
}

/** A save that appends to what was loaded; `fields` override. */
export function nextWrite(
  { revision, head, messages: { length } }: LoadedState,
  texts: readonly string[],
  fields: Partial<StateWrite> = {},
): StateWrite {
  return firstWrite(texts, { expected: revision, head, keep: length, ...fields });
}

export function messages(texts: readonly string[]): Message[] {
  return texts.map((text) => userMessage(text));
}

/** What is stored for a slot that must be there. */
export async function loadState(store: RedisAgentStateStore, where = slot): Promise<LoadedState> {
  const loaded = await loadWhole(store, where);
  if (loaded === null) throw new Error("nothing is stored");
  return loaded;
}

/** What the tests of a file share: one server (everybody's, unless it starts one), a prefix per test, and stores that end with the test. */
export class Stores {
  keyPrefix = "";
  #url = "";
  #client: Redis | undefined;
  readonly #opened: (() => unknown)[] = [];

  constructor(start?: () => Promise<RedisServer>) {
    let stop = async (): Promise<void> => {};
    beforeAll(async () => {
      const server = await start?.();
      this.#url = server?.url ?? inject("redisUrl");
      const own = ioredis(this.#url);
      this.#client = own.client;
      this.keyPrefix = ownPrefix();
      stop = async () => {
        await own.end();
        await server?.stop();
      };
    }, 60_000);
    afterEach(async () => {
      this.keyPrefix = ownPrefix();
      for (const end of this.#opened.splice(0)) await end();
    });
    afterAll(() => stop());
  }

  get url(): string {
    return this.#url;
  }

  /** For looking at keys behind the store's back. */
  get client(): Redis {
    return this.#client as Redis;
  }

  /** A store with a client of its own, as another process would have. */
  open(
    options: Partial<RedisAgentStateStoreOptions> & { readonly url?: string } = {},
  ): RedisAgentStateStore {
    const { url = this.#url, ...rest } = options;
    const { client, end } = ioredis(url);
    const store = new RedisAgentStateStore({ client, keyPrefix: this.keyPrefix, ...rest });
    this.#opened.push(async () => {
      await store.close();
      await end();
    });
    return store;
  }

  /** A proxy to the server, to count or lose what goes over it. */
  proxy(): Promise<TcpProxy> {
    const { hostname, port } = new URL(this.#url);
    return tcpProxy({ host: hostname, port: Number(port) });
  }

  key(part: SlotPart): string {
    return partKey(this.keyPrefix, slot, part);
  }

  /** Every key on the server, or those with a prefix. */
  async keys(prefix = ""): Promise<string[]> {
    const found: string[] = [];
    for await (const keys of this.client.scanStream({ match: `${prefix}*`, count: 1_000 }))
      found.push(...(keys as string[]));
    return found.sort();
  }
}
