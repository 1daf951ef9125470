import { describeAgentStateStore } from "@holdfast/testing";
import { type TcpProxy, tcpProxy } from "@holdfast/testing/servers";
import { afterAll, beforeAll, describe } from "vitest";
import { connect } from "../../src/connection/redis-connection.js";
import { partKey } from "../../src/keys.js";
import { RedisAgentStateStore } from "../../src/state/redis-agent-state-store.js";
import { ownPrefix, type TestClient, type TestRedis, topologies } from "./servers.js";

interface Setting extends TestClient {
  readonly keyPrefix: string;
  /** Where there is a single server: the way to it. */
  readonly proxy: TcpProxy | undefined;
}

const commandTimeoutMs = 4_000;

for (const [name, start] of Object.entries(topologies))
  describe(name, () => {
    let redis: TestRedis;
    beforeAll(async () => {
      redis = await start();
    }, 300_000);
    afterAll(() => redis.stop());

    const settings = new WeakMap<object, Setting>();
    const settingOf = (store: object): Setting => settings.get(store) as Setting;

    async function open(existing?: Setting): Promise<RedisAgentStateStore> {
      const { keyPrefix = ownPrefix() } = existing ?? {};
      const proxy = existing?.proxy ?? (redis.address && (await tcpProxy(redis.address)));
      const { client, end } = redis.connect(proxy);
      const store = new RedisAgentStateStore({ client, keyPrefix, commandTimeoutMs });
      settings.set(store, { client, end, keyPrefix, proxy });
      return store;
    }

    describeAgentStateStore(`RedisAgentStateStore over ${name}`, {
      fuses: ["gate", "log"],
      create: () => open(),
      reopen: (store) => open(settingOf(store)),
      async corrupt(store, slot) {
        const { client, keyPrefix } = settingOf(store);
        const connection = connect(client, { commandTimeoutMs });
        await connection.send("", "RPOP", [partKey(keyPrefix, slot, "messages")]);
        await connection.close();
      },
      // A cluster has no single way to it that could be cut.
      ...(name !== "ioredis Cluster" && {
        breakBackend: async (store) => settingOf(store).proxy?.close(),
      }),
      async cleanup(store) {
        const { end, proxy } = settingOf(store);
        await end();
        await proxy?.close();
      },
    });
  });
