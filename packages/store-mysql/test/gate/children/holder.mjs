// holder.mjs <url> <prefix> <leaseMs> <callId> [<said>]: acquires the slot and keeps it; when it is lost, tries to save all the same.
import { AgentState } from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";
import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { createPool } from "mysql2/promise";

const [url, tablePrefix, leaseMs, callId, said] = process.argv.slice(2);
const pool = createPool(url);
const store = MysqlDistributedStore.from(pool, { tablePrefix, leaseMs: Number(leaseMs) });
const slot = { agentId: "agent", userId: "user", sessionId: "held" };
const head = JSON.parse(JSON.stringify(AgentState.create(slot).head()));
// A call that runs keeps its process running.
const running = setInterval(() => {}, 1_000);

const put = said && {
  ...{ id: uuidv7(), kind: "input", callId, at: new Date().toISOString() },
  body: { text: said },
};
const onWait = () => console.log("waiting");
const lease = await store.gate.acquire(slot, { callId, onWait, put });
const tellLost = async () => {
  console.log(`lost ${lease.lost.reason.code}`);
  const write = { op: uuidv7(), expected: lease.loaded?.revision ?? null, head, keep: 0 };
  const outcome = await store.stateStore
    .save(slot, { ...write, replace: [], append: [], lease: lease.token, release: true })
    .catch((error) => error.code);
  console.log(`save ${outcome}`);
  clearInterval(running);
  await store.close();
  await pool.end();
};
if (lease.lost.aborted) void tellLost();
else lease.lost.addEventListener("abort", tellLost);
// Last: a test that reads this may stop the process at once, and an abort without a listener is never told.
console.log("held");
