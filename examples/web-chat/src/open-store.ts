import type { DistributedStore } from "@holdfast/core";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { RedisDistributedStore } from "@holdfast/store-redis";
import { Redis } from "ioredis";

/** Opens what all processes share: the Redis that a URL names, else JSON files in a directory. */
export function openStore(place: string): DistributedStore {
  if (place.startsWith("redis"))
    return RedisDistributedStore.from(new Redis(place), { keyPrefix: "harbour-desk:" });
  const stateStore = new JsonFileAgentStateStore({ root: place });
  return stateStore.companions();
}
