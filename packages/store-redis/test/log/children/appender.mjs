// Appends batches of three records to one session, the one in the middle common to all processes, and says `ok <batch>` after each.
import { writeSync } from "node:fs";
import { RedisConversationLog } from "@holdfast/store-redis";
import { Redis } from "ioredis";

const [url, keyPrefix, name, from, to, bytes] = process.argv.slice(2);
const client = new Redis(url);
const log = new RedisConversationLog({ client, keyPrefix });
const slot = { agentId: "agent", userId: "user", sessionId: "session" };
const padding = "x".repeat(Number(bytes));

writeSync(1, "ready\n");
for (let batch = Number(from); batch < Number(to); batch++) {
  const ids = [`${name}.${batch}.1`, `common.${batch}`, `${name}.${batch}.2`];
  await log.append(slot, ids.map(record));
  writeSync(1, `ok ${batch}\n`);
}
await log.close();
client.disconnect();

function record(id) {
  const at = "2026-01-01T00:00:00.000Z";
  const content = [{ type: "text", text: `${id} ${padding}` }];
  return {
    v: 1,
    id,
    callId: "call",
    at,
    kind: "message",
    message: { id, role: "user", content, createdAt: at },
  };
}
