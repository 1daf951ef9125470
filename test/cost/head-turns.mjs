// Runs warm turns on a session whose head holds so many kilobytes and prints the bytes that one writes.
// Usage: node head-turns.mjs <kilobytes> <state root>
import { readFileSync } from "node:fs";
import { ReActAgent } from "@holdfast/core";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { scriptedModel } from "@holdfast/testing";

const [kilobytes, root] = [Number(process.argv[2]), process.argv[3]];
const turns = 20;
const session = { userId: "alice", sessionId: `head-${kilobytes}` };
const agent = new ReActAgent({
  name: "cost",
  model: scriptedModel(() => "x".repeat(400)),
  stateStore: new JsonFileAgentStateStore({ root }),
});
await agent.updateAgentState(session, (state) => {
  state.extensions["mine"] = { version: 1, value: "x".repeat(kilobytes * 1_024) };
});
for (let n = 0; n < 3; n++) await agent.call("question", session);

const before = written();
for (let n = 0; n < turns; n++) await agent.call("question", session);
process.stdout.write(`${(written() - before) / turns}\n`);

/** Bytes this process has written so far, as the kernel counts them. */
function written() {
  return Number(/^wchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
}
