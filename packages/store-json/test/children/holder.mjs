// Says `ready <pid>` and takes the lease on a session. `hold`: says `held`, then keeps it until it is ended, and says when it was
// `lost`. `stop`: says `held`, and after it stood still `continued <lost> <past validUntil>`, before anything else can run.
// `loop <times>`: takes and gives back, and says `overlap` should another process ever be inside at the same time.
import { closeSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { FileSessionGate } from "@holdfast/store-json";

const [root, leaseMs, mode, times] = process.argv.slice(2);
const gate = new FileSessionGate({ root, leaseMs: Number(leaseMs) });
const slot = { agentId: "agent", userId: "user", sessionId: "session" };
const inside = join(root, "inside");

console.log(`ready ${process.pid}`);
if (mode === "hold") {
  const lease = await gate.acquire(slot, { callId: "held" });
  lease.lost.addEventListener("abort", () => {
    console.log(`lost ${lease.lost.reason.code}`);
    process.exit();
  });
  console.log("held");
  setInterval(() => {}, 1_000);
} else if (mode === "stop") {
  const lease = await gate.acquire(slot, { callId: "held" });
  console.log("held");
  let now = Date.now();
  for (let turn = 1; ; turn++) {
    const last = now;
    now = Date.now();
    if (now - last >= Number(leaseMs)) break;
    // Heartbeats get their turn, but most of the time nothing else can run.
    if (turn % 1_000_000 === 0) await setImmediate();
  }
  console.log(`continued ${lease.lost.aborted} ${lease.validUntil <= Date.now()}`);
  await lease.release();
  process.exit();
} else {
  for (let count = 0; count < Number(times); count++) {
    const lease = await gate.acquire(slot, { callId: `${process.pid}-${count}` });
    try {
      closeSync(openSync(inside, "wx"));
    } catch {
      console.log("overlap");
    }
    await setImmediate();
    rmSync(inside);
    await lease.release();
    console.log("turn");
  }
  console.log("end");
}
