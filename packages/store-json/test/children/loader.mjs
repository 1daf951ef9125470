// Loads a session, then asks so many times whether it is still the same.
import { JsonFileAgentStateStore } from "@holdfast/store-json";

const [root, timesText] = process.argv.slice(2);
const store = new JsonFileAgentStateStore({ root });
const slot = { agentId: "agent", userId: "user", sessionId: "session" };
const { revision } = await store.load(slot);
for (let count = 0; count < Number(timesText); count++)
  if ((await store.load(slot, revision)) !== "unchanged") throw new Error("not unchanged");
