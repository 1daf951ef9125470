// A team in a process of its own. node team-node.mjs <store choice as JSON> <options of the team as JSON>
// stdin and stdout: see serve-agent.mjs; the methods of the plugin are called tasks, cancel and confirm.
import { installSignalHandlers } from "@holdfast/core";
import { openNodeStore } from "../history/node/open-node-store.mjs";
import { serveAgent } from "../processes/serve-agent.mjs";
import { team } from "./team.mjs";

const [choice, { signalTimeoutMs, ...options }] = process.argv
  .slice(2, 4)
  .map((arg) => JSON.parse(arg));
const { store } = openNodeStore(choice);
const { agent, tasks } = team(store, options);
if (signalTimeoutMs !== undefined) installSignalHandlers(agent, { timeoutMs: signalTimeoutMs });
await serveAgent(agent, { tasks: tasks.tasks, cancel: tasks.cancel, confirm: tasks.confirm });
