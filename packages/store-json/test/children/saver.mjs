// Saves one session over and over, edits of every kind, until it is done or killed. Says what it is about to save and
// what was acknowledged: `intent <turn> <hash of the state>`, `ack <turn> <revision>`, `failed <turn> <code>`.
import { createHash } from "node:crypto";
import { writeSync } from "node:fs";
import { StoreError, userMessage } from "@holdfast/core";
import { uuidv7, withCallRecord } from "@holdfast/core/store-kit";
import { JsonFileAgentStateStore } from "@holdfast/store-json";

const [root, turnsText, bytesText, seedText] = process.argv.slice(2);
const turns = Number(turnsText);
const padding = "x".repeat(Number(bytesText));
let seed = Number(seedText);
const store = new JsonFileAgentStateStore({ root });
const slot = { agentId: "agent", userId: "user", sessionId: "session" };

let loaded = await store.load(slot).catch((error) => {
  say(`failed load ${error.code}`);
  process.exit(5);
});
for (let turn = 0; turn < turns; turn++) {
  if (loaded !== null && random() < 0.03) {
    say(`intent ${turn} deleted`);
    await acknowledged(turn, () => store.delete(slot).then(String));
    loaded = null;
    continue;
  }
  const messages = loaded?.messages ?? [];
  const keep = random() < 0.15 ? Math.floor(random() * messages.length) : messages.length;
  const replace = keep > 0 && random() < 0.2 ? [[keep - 1, message(turn, "replaced")]] : [];
  const append = Array.from({ length: 1 + Math.floor(random() * 3) }, () => message(turn, "new"));
  const head = { turn, note: `turn ${turn >> 2}`, ...(turn % 3 === 0 && { sometimes: [turn] }) };
  const after = messages.slice(0, keep);
  for (const [index, replacement] of replace) after[index] = replacement;
  after.push(...append);
  const op = uuidv7();
  const callRecord =
    turn % 2 === 0 ? { record: { callId: `call ${turn}`, turn }, keep: 2 } : undefined;
  const stored = loaded?.callRecords ?? [];
  const callRecords = callRecord ? withCallRecord(stored, callRecord.record, 2) : stored;
  const info = { counts: { turn } };
  const edit = { head, keep, replace, append, callRecord, info };
  const write = { op, expected: loaded?.revision ?? null, ...edit };
  say(`intent ${turn} ${hash(head, after, callRecords)}`);
  const revision = await acknowledged(turn, () => store.save(slot, write));
  loaded = { revision, head, messages: after, callRecords };
}
say("end");

/** Does it until it is done: what may have been applied is repeated with the same op, as the engine does. */
async function acknowledged(turn, work) {
  for (let attempt = 0; ; attempt++) {
    try {
      const result = await work();
      say(`ack ${turn} ${result}`);
      return result;
    } catch (error) {
      say(`failed ${turn} ${StoreError.is(error) ? error.code : `BUG ${error?.stack}`}`);
      if (!StoreError.is(error) || attempt === 5) process.exit(3);
      if (error.code !== "UNKNOWN_OUTCOME" && error.code !== "UNAVAILABLE") process.exit(4);
    }
  }
}

function message(turn, what) {
  return userMessage(`${what} in turn ${turn} ${padding}`);
}

function hash(head, messages, callRecords) {
  const text = JSON.stringify([Object.entries(head).sort(), messages, callRecords]);
  return createHash("sha256").update(text).digest("hex");
}

function say(line) {
  writeSync(1, `${line}\n`);
}

// mulberry32: the same turns for the same seed.
function random() {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
