// Makes calls on one session and prints a line for each reply.
// Usage: node caller.mjs <store choice as JSON> <name> <calls>
import { echoAgent } from "./echo-agent.mjs";
import { openStore } from "./open-store.mjs";

const [choice, name, calls] = [JSON.parse(process.argv[2]), process.argv[3], process.argv[4]];
const { store, close } = openStore(choice);
const agent = echoAgent(store);
for (let n = 0; n < Number(calls); n++) {
  const reply = await agent.call(`${name}-${n}`, { userId: "u", sessionId: "s" });
  process.stdout.write(`${reply.text}\n`);
}
await agent.close();
await close();
