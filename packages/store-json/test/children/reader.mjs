// Makes a session of so many messages, on which two stores then take turns; prints the bytes read by the turns, as the system
// counted them.
import { readFileSync } from "node:fs";
import { userMessage } from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";
import { JsonFileAgentStateStore } from "@holdfast/store-json";

const [root, messagesText, turnsText] = process.argv.slice(2);
const slot = { agentId: "agent", userId: "user", sessionId: "session" };
const nodes = Array.from({ length: 2 }, () => ({
  store: new JsonFileAgentStateStore({ root, durability: "os" }),
  known: undefined,
}));
let keep = 0;
let expected = null;
await save(nodes[0], Number(messagesText));
for (const node of nodes) await load(node);
await save(nodes[0], 2);
await load(nodes[1]);
const before = read();
for (let turn = 1; turn <= Number(turnsText); turn++) {
  const node = nodes[turn % 2];
  const answer = await load(node);
  if (turn > 1 && answer.from === undefined) throw new Error("the session was read whole");
  await save(node, 2);
}
console.log(read() - before);

async function load(node) {
  const answer = await node.store.load(slot, node.known);
  node.known = expected;
  return answer;
}

async function save(node, count) {
  const append = Array.from({ length: count }, (_, index) =>
    userMessage(`message ${keep + index} ${"of some length ".repeat(10)}`),
  );
  const write = { op: uuidv7(), expected, head: { turns: keep }, keep, replace: [], append };
  expected = await node.store.save(slot, write);
  node.known = expected;
  keep += count;
}

function read() {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
}
