// Says `ready`, then does the steps it is given on the log of one session, one after the other, and says a line for each: `ok <step>`, the
// result, or the code of the error. An append is announced first: `intent <step>`.
import { readFileSync, writeSync } from "node:fs";
import { StoreError } from "@holdfast/core";
import { JsonlConversationLog } from "@holdfast/store-json";

const [root, durability] = process.argv.slice(2);
say("ready");
const steps = JSON.parse(readFileSync(0, "utf8"));
const log = new JsonlConversationLog({ root, durability });
const slot = { agentId: "agent", userId: "user", sessionId: "session" };

for (const [index, step] of steps.entries()) {
  try {
    say(await run(index, step));
  } catch (error) {
    say(StoreError.is(error) ? `${error.code} ${index}` : `BUG ${error?.stack}`);
  }
}

async function run(index, step) {
  if (step.append) {
    say(`intent ${index}`);
    const padding = "x".repeat(step.bytes ?? 0);
    await log.append(
      slot,
      step.append.map((id) => record(id, padding)),
    );
    return `ok ${index}`;
  }
  if (step.search) {
    const { hits } = await log.search({ ...slot, text: step.search });
    return `found ${hits.map((hit) => hit.record.id).join()}`;
  }
  if (step.delete) return `deleted ${await log.delete(slot)}`;
  const before = bytesRead();
  const page = await log.read(slot, { limit: step.read });
  return `read ${page.length} ${bytesRead() - before}`;
}

function record(id, padding) {
  const at = "2026-01-01T00:00:00.000Z";
  const content = [{ type: "text", text: `${id} ${padding}` }];
  const message = { id, role: "user", content, createdAt: at };
  return { v: 1, id, callId: "call", at, kind: "message", message };
}

/** How many bytes this process has read so far. Linux only. */
function bytesRead() {
  const [, count] = /^rchar: (\d+)/.exec(readFileSync("/proc/self/io", "utf8")) ?? [];
  return Number(count);
}

function say(line) {
  writeSync(1, `${line}\n`);
}
