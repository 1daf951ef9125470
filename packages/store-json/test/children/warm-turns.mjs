// Takes so many turns on one session, each as the engine does: listens, queues, loads, logs, saves.
import { userMessage } from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";
import { JsonFileAgentStateStore } from "@holdfast/store-json";

const [root, turnsText] = process.argv.slice(2);
const store = new JsonFileAgentStateStore({ root, durability: "os" });
const { gate, log, signals } = store.companions();
const slot = { agentId: "agent", userId: "user", sessionId: "session" };
let keep = 0;
let expected = null;
for (let turn = 0; turn < Number(turnsText); turn++) {
  const callId = uuidv7();
  const subscription = await signals.listen(slot, callId, () => {});
  const lease = await gate.acquire(slot, { callId });
  const answer = await store.load(slot, expected ?? undefined);
  if (answer !== (expected === null ? null : "unchanged")) throw new Error("not as it was");
  const message = userMessage(`message ${turn}`);
  await store.inbox.read(slot);
  const at = new Date().toISOString();
  await log.append(slot, [{ v: 1, id: uuidv7(), callId, at, kind: "message", message }]);
  const write = { op: uuidv7(), expected, head: { turn }, keep, replace: [], append: [message] };
  expected = await store.save(slot, { ...write, info: { unfinished: false, waiting: false } });
  keep += 1;
  await lease.release();
  await subscription.close();
}
