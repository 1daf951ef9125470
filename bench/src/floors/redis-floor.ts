import type { Redis } from "ioredis";
import type { Contender } from "../measure/contender.js";
import { FLOOR_WINDOW } from "../stores/store-side.js";
import { floorHistory, floorTurn, parseAll } from "./floor-messages.js";

/** Floor on Redis: LRANGE of the last messages, then RPUSH and HSET in one MULTI. */
export function redisFloor(client: Redis, prefix: string): Contender {
  const list = (sessionId: string) => `${prefix}floor:{${sessionId}}:messages`;
  return {
    store: "redis",
    name: "floor",
    async seed(sessionId, messages) {
      await client.rpush(list(sessionId), ...floorHistory(messages));
    },
    async turn(sessionId) {
      parseAll(await client.lrange(list(sessionId), -FLOOR_WINDOW, -1));
      await client
        .multi()
        .rpush(list(sessionId), ...floorTurn())
        .hset(`${prefix}floor:{${sessionId}}:head`, "updatedAt", Date.now())
        .exec();
    },
  };
}
