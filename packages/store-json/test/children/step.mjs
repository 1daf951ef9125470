// Does one thing to the session, slowly when a tracer delays it: `append <text>` on top of what is stored, `rotate` so
// that its generation ends, or `list`.
// Says `ready`, then what came of it.
import { readFileSync } from "node:fs";
import { StateConflictError, userMessage } from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";
import { JsonFileAgentStateStore } from "@holdfast/store-json";

const [root, step, text] = process.argv.slice(2);
const store = new JsonFileAgentStateStore({ root, durability: "os" });
const slot = { agentId: "agent", userId: "user", sessionId: "session" };
const loaded = await store.load(slot);
console.log(`ready ${process.pid}`);
readFileSync(0);
if (step === "list") {
  await store.list();
  console.log("listed");
} else if (step === "rotate") {
  const keep = loaded.messages.length;
  const write = { keep, replace: [], append: [] };
  const filler = { filler: "x".repeat(100_000) };
  const middle = await store.save(slot, {
    ...write,
    op: uuidv7(),
    expected: loaded.revision,
    head: filler,
  });
  const last = await store.save(slot, { ...write, op: uuidv7(), expected: middle, head: {} });
  const known = await store.load(slot, last);
  console.log(known === "unchanged" ? "unchanged" : known.messages.length);
} else {
  const keep = loaded?.messages.length ?? 0;
  const append = [userMessage(text)];
  const expected = loaded?.revision ?? null;
  const write = { op: uuidv7(), expected, head: {}, keep, replace: [], append };
  try {
    await store.save(slot, write);
    console.log("saved");
  } catch (error) {
    console.log(StateConflictError.is(error) ? "conflict" : String(error));
  }
}
