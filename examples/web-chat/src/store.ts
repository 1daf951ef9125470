import type { DistributedStore } from "@holdfast/core";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { RedisDistributedStore } from "@holdfast/store-redis";
import { Redis } from "ioredis";

/** Opens what all processes share: the Redis that `DESK_STORE` names by its URL, else JSON files in that directory. */
export function openStore(): { readonly store: DistributedStore } {
  const place = process.env["DESK_STORE"] ?? ".holdfast/web-chat";
  if (place.startsWith("redis"))
    return { store: RedisDistributedStore.from(new Redis(place), { keyPrefix: "harbour-desk:" }) };
  return { store: new JsonFileAgentStateStore({ root: place }).companions() };
}
