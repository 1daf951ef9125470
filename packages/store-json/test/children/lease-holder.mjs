// Holds the lease on a session until it is told to release it.
import { createInterface } from "node:readline";
import { JsonFileAgentStateStore } from "@holdfast/store-json";

const store = new JsonFileAgentStateStore({ root: process.argv[2] });
const slot = { agentId: "agent", userId: "user", sessionId: "session" };
const lease = await store.companions().gate.acquire(slot, { callId: "held" });
console.log("holding");
for await (const line of createInterface({ input: process.stdin }))
  if (line === "release") {
    await lease.release();
    console.log("released");
  }
