// Says something to the session and goes on holding it.
import { openStore, slot } from "../../gate/children/session.mjs";

const store = openStore(process.argv.slice(2));
await store.fuses.gate.acquire(slot, {
  callId: "child",
  put: {
    ...{ id: "e-1", kind: "input", callId: "child", at: new Date().toISOString() },
    body: { text: "words" },
  },
});
console.log("said");
setInterval(() => {}, 60_000);
