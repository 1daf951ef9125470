// Listens for signals to the call `call` of a session, and says what it got.
import { FileSignalBus } from "@holdfast/store-json";

const [root, sessionId = "session"] = process.argv.slice(2);
const bus = new FileSignalBus({ root });
const slot = { agentId: "agent", userId: "user", sessionId };
await bus.listen(slot, "call", ({ kind }) => console.log(`got ${kind}`));
setInterval(() => {}, 1_000);
console.log("listening");
