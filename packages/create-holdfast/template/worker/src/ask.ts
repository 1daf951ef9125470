import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { JobQueue } from "./job-queue.js";
import { storeHint, storeUrl } from "./store.js";

// Puts a job into the queue, as a web server of yours would, and waits for its answer.
const text = process.argv.slice(2).join(" ") || 'Call weather with {"city": "Oslo"}';
const client = new Redis(storeUrl, { lazyConnect: true });
client.on("error", () => undefined);
await client.connect().catch((error: Error) => {
  console.error(`Redis does not answer: ${error.message}\n${storeHint}`);
  process.exit(1);
});
const queue = new JobQueue(client, "asker");
const id = randomUUID();
await queue.open();
await queue.add({ id, userId: "you", sessionId: "first", text });
console.log(`> ${text}`);
console.log((await queue.answer(id, 120)) ?? "No worker has answered yet. Is one running?");
client.disconnect();
