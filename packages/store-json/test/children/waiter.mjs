// Saves a session as waiting, as not waiting and as waiting again; says so after each save.
import { JsonFileAgentStateStore } from "@holdfast/store-json";

const [root] = process.argv.slice(2);
const store = new JsonFileAgentStateStore({ root });
const slot = { agentId: "agent", userId: "user", sessionId: "session" };
let expected = null;
for (const waiting of [true, false, true]) {
  const write = {
    op: `${waiting} ${expected}`,
    expected,
    head: {},
    keep: 0,
    replace: [],
    append: [],
  };
  expected = await store.save(slot, { ...write, info: { waiting } });
  process.stdout.write(`${waiting}\n`);
}
