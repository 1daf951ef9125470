// Says `ready <pid>` and takes the lease on a session. `hold`: says `held`, then keeps it until it is ended, and says when it was
// `lost`. `stop`: says `held`, and after it stood still `continued <lost> <past validUntil>`, before anything else can run.
// `again`: as `hold`, but had the lease once before it says `ready`.
// `loop <times> <pause>`: takes and gives back, up to so many milliseconds apart, and says `overlap` should another process ever be
// inside at the same time.
import { closeSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import { FileSessionGate } from "@holdfast/store-json";

const [root, leaseMs, mode, times, pauseMs = 0] = process.argv.slice(2);
const gate = new FileSessionGate({ root, leaseMs: Number(leaseMs) });
const slot = { agentId: "agent", userId: "user", sessionId: "session" };
const inside = join(root, "inside");

if (mode === "again") await (await gate.acquire(slot, { callId: "before" })).release();
console.log(`ready ${process.pid}`);
if (mode === "hold" || mode === "again") {
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
    if (pauseMs > 0) await setTimeout(Math.random() * Number(pauseMs));
  }
  console.log("end");
}
