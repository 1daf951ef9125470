import type { Slot } from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";
import { describeAgentStateStore, scaled } from "@holdfast/testing";
import { type TcpProxy, tcpProxy } from "@holdfast/testing/servers";
import fc from "fast-check";
import { afterAll, beforeAll, describe, test } from "vitest";
import { connect } from "../../src/connection/redis-connection.js";
import { partKey, type SlotPart, slotKeys } from "../../src/keys.js";
import { RedisAgentStateStore } from "../../src/state/redis-agent-state-store.js";
import { RandomSession, sessionSteps } from "./random-sessions.js";
import { ownPrefix, type TestClient, type TestRedis, topologies } from "./servers.js";
import { slot } from "./stores.js";

interface Setting extends TestClient {
  readonly keyPrefix: string;
  /** Where there is a single server: the way to it. */
  readonly proxy: TcpProxy | undefined;
}

const commandTimeoutMs = 4_000;

for (const [name, start] of topologies)
  describe(name, () => {
    let redis: TestRedis;
    beforeAll(async () => {
      redis = await start();
    });
    afterAll(() => redis.stop());

    const settings = new WeakMap<object, Setting>();
    const settingOf = (store: object): Setting => settings.get(store) as Setting;

    async function open(existing?: Setting, ttlMs?: number): Promise<RedisAgentStateStore> {
      const { keyPrefix = ownPrefix() } = existing ?? {};
      const proxy = existing?.proxy ?? (redis.address && (await tcpProxy(redis.address)));
      const { client, end } = redis.connect(proxy);
      const store = new RedisAgentStateStore({ client, keyPrefix, commandTimeoutMs, ttlMs });
      settings.set(store, { client, end, keyPrefix, proxy });
      return store;
    }

    /** Sends a command behind the store's back. */
    async function command(store: object, name: string, slot: Slot, part: SlotPart): Promise<void> {
      const { client, keyPrefix } = settingOf(store);
      const connection = connect(client, { commandTimeoutMs });
      await connection.send("", name, [partKey(keyPrefix, slot, part)], { writes: true });
      await connection.close();
    }

    test("whatever is saved, edited, logged and deleted loads as it was saved", async () => {
      const property = fc.asyncProperty(sessionSteps, async (steps) => {
        const first = await open();
        const nodes = [first, await open(settingOf(first))];
        const session = new RandomSession(nodes, { ...slot, sessionId: uuidv7() });
        await session.begin();
        for (const step of steps) await session.take(step).then(() => session.check());
        for (const node of nodes) {
          await node.close();
          await settingOf(node).end();
        }
        await settingOf(first).proxy?.close();
      });
      await fc.assert(property, { numRuns: scaled(4, 50) });
    });

    describeAgentStateStore(`RedisAgentStateStore over ${name}`, {
      fuses: ["gate", "log"],
      inbox: true,
      callRecords: true,
      deltaLoads: true,
      create: () => open(),
      expiring: {
        create: (ttlMs) => open(undefined, ttlMs),
        async pass(store, slot, ms) {
          const { client, keyPrefix } = settingOf(store);
          const connection = connect(client, { commandTimeoutMs });
          for (const key of slotKeys(keyPrefix, slot)) {
            const left = await connection.send("", "PTTL", [key]);
            if (typeof left !== "number" || left < 0) continue;
            await connection.send("", "PEXPIRE", [key, Math.round(left - ms)], { writes: true });
          }
          await connection.close();
        },
      },
      reopen: (store) => open(settingOf(store)),
      corrupt: (store, slot) => command(store, "RPOP", slot, "messages"),
      endLease: (store, slot) => command(store, "DEL", slot, "lease"),
      // A cluster has no single way to it that could be cut.
      ...(!name.endsWith("Cluster") && {
        breakBackend: async (store) => settingOf(store).proxy?.close(),
      }),
      async cleanup(store) {
        const { end, proxy } = settingOf(store);
        await end();
        await proxy?.close();
      },
    });
  });
