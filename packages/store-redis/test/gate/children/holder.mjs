// Takes the lease and holds it; saves when told to.
import { createInterface } from "node:readline";
import { append, openStore, slot } from "./session.mjs";

const store = openStore(process.argv.slice(2));
const lease = await store.fuses.gate.acquire(slot, { callId: "child" });
lease.lost.addEventListener("abort", () => console.log(`lost ${lease.lost.reason.code}`));
console.log("held");
for await (const line of createInterface({ input: process.stdin })) {
  const outcome = await append(store, lease, line).then(
    () => "saved",
    (error) => `refused ${error.code}`,
  );
  console.log(outcome);
}
