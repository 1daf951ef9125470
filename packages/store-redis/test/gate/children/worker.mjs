// Takes turn after turn, each adding one message.
import { append, openStore, slot } from "./session.mjs";

const [label, turns, ...rest] = process.argv.slice(2);
const store = openStore(rest);
for (let turn = 0; turn < Number(turns); turn++) {
  const callId = `${label} ${turn}`;
  const lease = await store.fuses.gate.acquire(slot, { callId });
  await append(store, lease, callId);
  console.log(callId);
}
console.log("done");
process.exit(0);
