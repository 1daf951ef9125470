// Saves turns of a few sessions, one after the other, as agents would: the record first, then the state. Ends when told to.
import { setTimeout as sleep } from "node:timers/promises";
import { uuidv7 } from "@holdfast/core/store-kit";
import { JsonFileAgentStateStore } from "@holdfast/store-json";

const store = new JsonFileAgentStateStore({ root: process.argv[2], durability: "os" });
const { log } = store.companions();
let isStopped = false;
process.stdin.once("data", () => {
  isStopped = true;
});

const sessions = Array.from({ length: 4 }, (_, index) => ({
  slot: { agentId: "busy", userId: "writer", sessionId: `live-${index}` },
  revision: null,
  turns: 0,
}));

for (let turn = 1; !isStopped; turn++) {
  for (const session of sessions) {
    const text = `turn ${turn} ${"x".repeat(turn % 50 === 0 ? 70_000 : 20)}`;
    const createdAt = new Date().toISOString();
    const message = { id: uuidv7(), role: "user", createdAt, content: [{ type: "text", text }] };
    const record = { v: 1, id: uuidv7(), callId: "busy", at: createdAt, kind: "message", message };
    await log.append(session.slot, [record]);
    session.revision = await store.save(session.slot, {
      op: uuidv7(),
      expected: session.revision,
      head: { turns: session.turns + 1 },
      keep: session.turns++,
      replace: [],
      append: [message],
    });
  }
  console.log(`turn ${turn}`);
  await sleep(20);
}
console.log("stopped");
process.exit(0);
