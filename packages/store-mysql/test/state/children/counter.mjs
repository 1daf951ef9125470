// counter.mjs <url> <prefix> <times> <mode>: adds one to a number in the head, that often; "lease" or "bare" says how.
import { AgentState, StateConflictError } from "@holdfast/core";
import { saveWithRetry, uuidv7 } from "@holdfast/core/store-kit";
import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { createPool } from "mysql2/promise";

const [url, tablePrefix, times, mode] = process.argv.slice(2);
const pool = createPool(url);
const { stateStore, gate, ...rest } = MysqlDistributedStore.from(pool, { tablePrefix });
const slot = { agentId: "agent", userId: "user", sessionId: "counted" };
const fresh = JSON.parse(JSON.stringify(AgentState.create(slot).head()));

async function addOne() {
  const lease = mode === "lease" ? await gate.acquire(slot, { callId: uuidv7() }) : undefined;
  const loaded = lease === undefined ? await stateStore.load(slot) : lease.loaded;
  const head = loaded?.head ?? fresh;
  const count = (head.extensions.count ?? 0) + 1;
  await saveWithRetry(stateStore, slot, {
    op: uuidv7(),
    expected: loaded?.revision ?? null,
    head: { ...head, extensions: { count } },
    keep: 0,
    replace: [],
    append: [],
    ...(lease && { lease: lease.token, release: true }),
  });
  await lease?.release();
}

let conflicts = 0;
for (let done = 0; done < Number(times); ) {
  try {
    await addOne();
    done++;
  } catch (error) {
    if (!StateConflictError.is(error)) throw error;
    conflicts++;
  }
}
console.log(`conflicts ${conflicts}`);
await stateStore.close();
await pool.end();
void rest;
