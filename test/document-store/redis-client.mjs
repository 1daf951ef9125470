// A store for many machines by four commands: a key holds the version of its last write and the value.
import { randomUUID } from "node:crypto";
import { documentStore } from "@holdfast/core/store-kit";
import { Redis } from "ioredis";

const compareAndSet = `local stored = redis.call('GET', KEYS[1])
if (stored and string.sub(stored, 1, 36) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1`;

export function redisClient(redis, prefix) {
  return {
    async get(key) {
      const stored = await redis.get(key);
      return stored && { version: stored.slice(0, 36), value: stored.slice(36) };
    },
    async compareAndSet(key, value, expected) {
      return (await redis.eval(compareAndSet, 1, key, expected ?? "", randomUUID() + value)) === 1;
    },
    delete: async (key) => (await redis.del(key)) === 1,
    async list(at = "0") {
      const [cursor, keys] = await redis.scan(at, "MATCH", `${prefix}*`, "COUNT", 1_000);
      return cursor === "0" ? { keys } : { keys, cursor };
    },
  };
}

/** @param {string} location - URL of a server, with the prefix as its fragment */
export function open(location) {
  const [url, prefix] = location.split("#");
  const redis = new Redis(url);
  const times = { leaseMs: 6_000, nodeTimeoutMs: 2_000, pollMs: 20 };
  const client = redisClient(redis, prefix);
  const store = documentStore(client, { reach: "distributed", keyPrefix: prefix, ...times });
  const close = store.close.bind(store);
  store.close = () => close().finally(() => redis.disconnect());
  return store;
}
