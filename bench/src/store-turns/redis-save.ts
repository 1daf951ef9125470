import type { Redis } from "ioredis";
import { sampleHead, sampleTurn } from "../stores/sample-turn.js";

/** The least a save of a turn can be on Redis: read the revision, then RPUSH and HSET in one MULTI. */
export function redisSave(client: Redis, key: string): () => Promise<void> {
  const slot = { agentId: "bench", userId: "user", sessionId: "floor" };
  let revision = 0;
  return async () => {
    await client.hget(`${key}:head`, "rev");
    const messages = sampleTurn().map((message) => JSON.stringify(message));
    const head = JSON.stringify(sampleHead(slot));
    await client
      .multi()
      .rpush(`${key}:messages`, ...messages)
      .hset(`${key}:head`, "rev", String(++revision), "head", head)
      .exec();
  };
}
