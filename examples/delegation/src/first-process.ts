import { lead, session } from "./lead.js";

let begin: () => void = () => {};
const searching = new Promise<void>((resolve) => {
  begin = resolve;
});
// The scout's search takes longer than this process lives.
const { agent } = lead(() => {
  console.log("  * the scout searches, in the background");
  begin();
  return new Promise(() => {});
});

// Two tasks at once. The treasurer's tool asks, and that is the question of this call.
let reply = await agent.call("Organise a dinner for six.", session);
while (reply.reason === "permission_asking") {
  for (const { agent: name, label, name: tool, input } of reply.pending)
    console.log(`  ? ${name} (${label}) wants to call ${tool} ${JSON.stringify(input)}: approved`);
  const confirm = reply.pending.map(({ toolCallId }) => ({ toolCallId, approve: true }));
  reply = await agent.call({ confirm }, session);
}
console.log(`  < ${reply.text}`);

await searching;
process.kill(process.pid, "SIGKILL");
