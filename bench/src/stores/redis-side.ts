import { RedisDistributedStore } from "@holdfast/store-redis";
import { Redis } from "ioredis";
import { redisFloor } from "../floors/redis-floor.js";
import type { NodePlace } from "./node-place.js";
import { RedisCommandCount } from "./redis-command-count.js";
import { benchSlot, seedSession } from "./seed-session.js";
import type { StoreSide } from "./store-side.js";
import type { WatchedAddress } from "./watched-address.js";

/** Opens Redis beside the nodes; `url` is the server itself, `place.url` the way that may be watched. */
export async function redisSide(
  { url: watchedUrl, prefix }: NodePlace,
  url: string,
  address: WatchedAddress,
): Promise<StoreSide> {
  const [client, floorClient] = [new Redis(url), new Redis(watchedUrl)];
  const seeder = RedisDistributedStore.from(client, { keyPrefix: prefix });
  const commands = address.isWatched ? await RedisCommandCount.start(client) : undefined;
  return {
    floor: redisFloor(floorClient, prefix),
    seed: async (sessionId, messages) => {
      await seedSession(seeder.stateStore, benchSlot(sessionId), messages);
    },
    async storedBytes() {
      let bytes = 0;
      for await (const keys of client.scanStream({ match: `${prefix}*`, count: 1_000 }))
        for (const key of keys as string[])
          bytes += (await client.memory("USAGE", key, "SAMPLES", 0)) ?? 0;
      return bytes;
    },
    counters: async () => ({ ...address.counters(), commands: await commands?.soFar() }),
    async close() {
      commands?.stop();
      await seeder.close();
      client.disconnect();
      floorClient.disconnect();
    },
  };
}
