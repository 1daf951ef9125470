// Runs one turn on each of many sessions, in rounds, and prints the heap after each round, as one line of JSON.
// Usage: node --expose-gc many-sessions.mjs <Redis URL> <key prefix> <workspace> <sessions per round> <rounds>
import { HarnessAgent } from "@holdfast/harness";
import { memoryFlush } from "@holdfast/memory-flush";
import { RedisDistributedStore } from "@holdfast/store-redis";
import { Redis } from "ioredis";

const [url, keyPrefix, workspace, sessions, rounds] = process.argv.slice(2);
const batch = 50;

const usage = { inputTokens: 1, outputTokens: 1 };
const model = {
  id: "brief",
  contextWindow: 100_000,
  async *stream() {
    yield { type: "text_delta", text: "ok" };
    yield { type: "finish", reason: "stop", usage };
  },
};
const client = new Redis(url);
const agent = HarnessAgent.builder()
  .name("many")
  .model(model)
  .distributedStore(RedisDistributedStore.from(client, { keyPrefix }))
  .workspace(workspace)
  .use(memoryFlush({ flushTrigger: "never" }))
  .stateCache({ maxSessions: 100 })
  .build();

const heap = [];
for (let round = 0; round < Number(rounds); round++) {
  for (let at = 0; at < Number(sessions); at += batch)
    await Promise.all(
      Array.from({ length: batch }, (_, index) =>
        agent.call("hi", { userId: `user-${round}-${at + index}`, sessionId: "s" }),
      ),
    );
  globalThis.gc();
  globalThis.gc();
  heap.push(process.memoryUsage().heapUsed);
}
process.stdout.write(`${JSON.stringify({ heap })}\n`);
await agent.close();
client.disconnect();
