// Puts entries into the inbox of a session, one after the other, and takes every third one out again; says `intent <number>`,
// `ack <number>` and `removing <number>`, `removed <number>`. An entry `shared` is put by every such process.
import { writeSync } from "node:fs";
import { StoreError } from "@holdfast/core";
import { JsonFileAgentStateStore } from "@holdfast/store-json";

const [root, name, countText, bytesText = "10"] = process.argv.slice(2);
const store = new JsonFileAgentStateStore({ root });
const slot = { agentId: "agent", userId: "user", sessionId: "session" };
const text = "x".repeat(Number(bytesText));

await store.inbox.put(slot, entry("shared", { text }));
for (let number = 1; number <= Number(countText); number++) {
  const id = `${name} ${number}`;
  say(`intent ${number}`);
  await untilDone(() => store.inbox.put(slot, entry(id, { text })));
  say(`ack ${number}`);
  if (number % 3 !== 0) continue;
  say(`removing ${number}`);
  await untilDone(() => store.inbox.remove(slot, [id]));
  say(`removed ${number}`);
}
say("end");

/** Does it until it is done: what may have been applied is repeated, as the engine does. */
async function untilDone(work) {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      say(`failed ${StoreError.is(error) ? error.code : `BUG ${error?.stack}`}`);
      if (error.code !== "UNKNOWN_OUTCOME") process.exit(3);
    }
  }
}

function entry(id, body) {
  return { id, kind: "interrupt", callId: "call", at: new Date().toISOString(), body };
}

function say(line) {
  writeSync(1, `${line}\n`);
}
