// Listens for signals to the call `call` and says what it got.
import { FileSignalBus } from "@holdfast/store-json";

const bus = new FileSignalBus({ root: process.argv[2] });
const slot = { agentId: "agent", userId: "user", sessionId: "session" };
await bus.listen(slot, "call", ({ kind }) => console.log(`got ${kind}`));
setInterval(() => {}, 1_000);
console.log("listening");
