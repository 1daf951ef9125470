import { describeSessionGate } from "@holdfast/testing";
import { afterAll, beforeAll, describe } from "vitest";
import { RedisSessionGate } from "../../src/gate/redis-session-gate.js";
import { ownPrefix, type TestClient, type TestRedis, topologies } from "../state/servers.js";

for (const [name, start] of topologies)
  describe(name, () => {
    let redis: TestRedis;
    beforeAll(async () => {
      redis = await start();
    });
    afterAll(() => redis.stop());

    const settings = new WeakMap<object, TestClient & { readonly keyPrefix: string }>();

    function open(keyPrefix = ownPrefix()): RedisSessionGate {
      const { client, end } = redis.connect();
      const gate = new RedisSessionGate({ client, keyPrefix, leaseMs: 6_000 });
      settings.set(gate, { client, end, keyPrefix });
      return gate;
    }

    describeSessionGate(`RedisSessionGate over ${name}`, {
      create: () => open(),
      reopen: (gate) => open(settings.get(gate)?.keyPrefix),
      // Its connections end with the client they were made from, and its lease stays behind.
      killHolder: async (gate) => void (await settings.get(gate)?.end()),
      async cleanup(gate) {
        await (gate as RedisSessionGate).close();
        await settings.get(gate)?.end();
      },
    });
  });
