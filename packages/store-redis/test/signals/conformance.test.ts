import { describeSignalBus } from "@holdfast/testing";
import { afterAll, beforeAll } from "vitest";
import { RedisSignalBus } from "../../src/signals/redis-signal-bus.js";
import { everyTopology, ownPrefix, type TestClient, type TestRedis } from "../state/servers.js";

let redis: TestRedis;
beforeAll(async () => {
  redis = (await everyTopology["ioredis"]?.()) as TestRedis;
});
afterAll(() => redis.stop());

const settings = new WeakMap<object, TestClient & { readonly keyPrefix: string }>();

function open(keyPrefix = ownPrefix()): RedisSignalBus {
  const { client, end } = redis.connect();
  const bus = new RedisSignalBus({ client, keyPrefix });
  settings.set(bus, { client, end, keyPrefix });
  return bus;
}

describeSignalBus("RedisSignalBus", {
  create: () => open(),
  reopen: (bus) => open(settings.get(bus)?.keyPrefix),
  async cleanup(bus) {
    await (bus as RedisSignalBus).close();
    await settings.get(bus)?.end();
  },
});
