import type { Slot } from "@holdfast/core";
import type { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, inject } from "vitest";
import {
  RedisSessionGate,
  type RedisSessionGateOptions,
} from "../../src/gate/redis-session-gate.js";
import { partKey, type SlotPart } from "../../src/keys.js";
import { ioredis, ownPrefix, type TestClient } from "../state/servers.js";

export const slot: Slot = { agentId: "agent", userId: "user", sessionId: "session" };

/** What the tests of a file share: one server, a prefix per test, and gates that end with the test. */
export class Gates {
  keyPrefix = "";
  #own: (TestClient & { readonly client: Redis }) | undefined;
  readonly #opened: (() => unknown)[] = [];

  constructor() {
    beforeAll(() => {
      this.#own = ioredis(this.url);
      this.keyPrefix = ownPrefix();
    });
    afterEach(async () => {
      this.keyPrefix = ownPrefix();
      for (const end of this.#opened.splice(0)) await end();
    });
    afterAll(() => this.#own?.end());
  }

  get url(): string {
    return inject("redisUrl");
  }

  /** For looking at keys behind the gate's back. */
  get client(): Redis {
    return this.#own?.client as Redis;
  }

  /** A gate with a client of its own, as another process would have. */
  open(
    options: Partial<RedisSessionGateOptions> & { readonly url?: string } = {},
  ): RedisSessionGate {
    const { url = this.url, ...rest } = options;
    const { client, end } = ioredis(url);
    const gate = new RedisSessionGate({ client, keyPrefix: this.keyPrefix, ...rest });
    this.#opened.push(async () => {
      await gate.close();
      await end();
    });
    return gate;
  }

  key(part: SlotPart): string {
    return partKey(this.keyPrefix, slot, part);
  }

  /** The keys this test has left. */
  async keys(): Promise<string[]> {
    const found: string[] = [];
    for await (const keys of this.client.scanStream({ match: `${this.keyPrefix}*`, count: 1_000 }))
      found.push(...(keys as string[]));
    return found.sort();
  }
}
