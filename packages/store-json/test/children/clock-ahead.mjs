// Uses everything of a store by the time of day that it was given, beside another process, and says what it found.
import { JsonFileAgentStateStore } from "@holdfast/store-json";

const [root] = process.argv.slice(2);
// No session here was unused for so long.
const store = new JsonFileAgentStateStore({ root, ttlMs: 3_600_000 });
const { gate, signals, log } = store.companions();
const slot = { agentId: "agent", userId: "user", sessionId: "session" };
console.log(`hour ${Math.round(Date.now() / 3_600_000)}`);

for (const sessionId of ["session", "elsewhere"])
  console.log(
    `${sessionId} ${await gate.acquire({ ...slot, sessionId }, { callId: "c", wait: false }).then(
      () => "taken",
      ({ code }) => code,
    )}`,
  );
for (const callId of ["call", "call elsewhere"])
  console.log(`${callId} ${await signals.send(slot, callId, { kind: "interrupt" })}`);
const other = await signals.listen({ ...slot, sessionId: "another" }, "call", () => {});
const own = await signals.listen(slot, "another", () => {});
for (let time = 0; time < 3; time++) {
  const { revision, head, messages } = await store.load(slot);
  for (const [index, text] of ["x".repeat(100_000), ""].entries()) {
    const expected = index === 0 ? revision : (await store.load(slot)).revision;
    const write = { expected, head: { ...head, text }, keep: messages.length };
    await store.save(slot, { op: `${time}.${index}`, replace: [], append: [], ...write });
  }
}
await log.append(slot, [
  { v: 1, id: "r", callId: "c", at: new Date().toISOString(), kind: "mark", mark: { name: "x" } },
]);
await store.list();
await own.close();
await other.close();
console.log("done");
process.exit();
