// One of several writers on one session: appends `<name> <number>` again and again, each with load, append, save, and
// again whenever somebody else was first. Starts after its own last number. Says `ack <number>` for what was acknowledged.
import { randomBytes } from "node:crypto";
import { writeSync } from "node:fs";
import { StateConflictError, textOf, userMessage } from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";
import { JsonFileAgentStateStore } from "@holdfast/store-json";

const [root, name, lastText, headBytes] = process.argv.slice(2);
const last = Number(lastText);
const store = new JsonFileAgentStateStore({ root, durability: "os" });
const slot = { agentId: "agent", userId: "user", sessionId: "session" };

for (;;) {
  const loaded = await store.load(slot);
  const messages = loaded?.messages ?? [];
  const own = messages.map(textOf).filter((text) => text.startsWith(`${name} `));
  const number = own.length === 0 ? 1 : Number(own.at(-1).split(" ")[1]) + 1;
  if (number > last) break;
  const head = { by: name, filler: randomBytes(Number(headBytes) / 2).toString("hex") };
  try {
    await store.save(slot, {
      op: uuidv7(),
      expected: loaded?.revision ?? null,
      head,
      keep: messages.length,
      replace: [],
      append: [userMessage(`${name} ${number}`)],
    });
    writeSync(1, `ack ${number}\n`);
  } catch (error) {
    if (!StateConflictError.is(error)) throw error;
  }
}
