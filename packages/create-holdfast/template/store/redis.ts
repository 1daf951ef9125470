import "./env.js";
import type { DistributedStore } from "@holdfast/core";
import { RedisDistributedStore } from "@holdfast/store-redis";
import { Redis } from "ioredis";

/** Where sessions are, as the `holdfast` command names it. */
export const storeUrl: string = process.env["REDIS_URL"] || "redis://127.0.0.1:6379";

/** Says what to do when the store does not answer. */
export const storeHint = "Start a Redis with `docker compose up -d redis`, or set REDIS_URL.";

/** Opens the store: a Redis, which any number of processes on any number of hosts share. */
export function openStore(): { readonly store: DistributedStore; close(): Promise<void> } {
  const client = new Redis(storeUrl);
  // Calls fail with what went wrong; without a listener each attempt to connect would be printed as well.
  client.on("error", () => undefined);
  const store = RedisDistributedStore.from(client);
  return {
    store,
    async close() {
      await store.close();
      client.disconnect();
    },
  };
}
