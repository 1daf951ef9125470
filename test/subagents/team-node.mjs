// A team in a process of its own. node team-node.mjs <store choice as JSON> <options of the team as JSON>
// stdin and stdout: see serve-agent.mjs; the methods of the plugin are tasks, cancel, confirm and asks, which is its pending.
import { installSignalHandlers } from "@holdfast/core";
import { openNodeStore } from "../history/node/open-node-store.mjs";
import { serveAgent } from "../processes/serve-agent.mjs";
import { team } from "./team.mjs";

const [choice, { signalTimeoutMs, losesAnswers, ...options }] = process.argv
  .slice(2, 4)
  .map((arg) => JSON.parse(arg));
const { store } = openNodeStore(choice);
if (losesAnswers) {
  const { gate } = store;
  const acquire = gate.acquire.bind(gate);
  gate.acquire = (slot, request) => {
    const isAnswer = slot.agentId !== "lead" && request.callId.includes(":");
    if (!isAnswer) return acquire(slot, request);
    process.stdout.write("answered\n");
    return new Promise(() => undefined);
  };
}
const { agent, tasks } = team(store, options);
if (signalTimeoutMs !== undefined) installSignalHandlers(agent, { timeoutMs: signalTimeoutMs });
const { tasks: list, cancel, confirm, pending } = tasks;
await serveAgent(agent, { tasks: list, cancel, confirm, asks: pending });
