// Makes a session of so many messages, then takes turns on it; prints the bytes written by the turns, as the system
// counted them. The head changes with every turn, so that generations end on the way.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { userMessage } from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";
import { JsonFileAgentStateStore } from "@holdfast/store-json";

const [root, messagesText, turnsText] = process.argv.slice(2);
const store = new JsonFileAgentStateStore({ root, durability: "os" });
const slot = { agentId: "agent", userId: "user", sessionId: "session" };
let keep = 0;
let expected = null;
await save(Number(messagesText));
await save(0);
const before = written();
for (let turn = 0; turn < Number(turnsText); turn++) {
  if ((await store.load(slot, expected)) !== "unchanged") throw new Error("not unchanged");
  await save(2);
}
console.log(written() - before);

async function save(count) {
  const append = Array.from({ length: count }, (_, index) =>
    userMessage(`message ${keep + index} ${"of some length ".repeat(10)}`),
  );
  const head = { filler: randomBytes(2_000).toString("hex") };
  expected = await store.save(slot, { op: uuidv7(), expected, head, keep, replace: [], append });
  keep += count;
}

function written() {
  return Number(/^wchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
}
