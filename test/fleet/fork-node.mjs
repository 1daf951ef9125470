// A node that forks session "one" of "ada", and may kill itself, as kill -9 would, at a command to its store.
// Usage: node fork-node.mjs <store choice as JSON> <id of the fork> [<number of a command> <before, during or after it>]
// stdout: "command <n>" before each command of the fork; "forked" or "failed <code>" at its end.
import { setImmediate } from "node:timers/promises";
import { ReActAgent } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { openNodeStore } from "../history/node/open-node-store.mjs";

const [choice, as, dieAt, when] = process.argv.slice(2);
const { store } = openNodeStore(JSON.parse(choice));
const agent = new ReActAgent({ name: "a", model: scriptedModel(["ok"]), distributedStore: store });
const die = () => process.kill(process.pid, "SIGKILL");
let commands = 0;

/** @type {[object, string[]][]} */
const parts = [
  [store.log, ["append", "read", "readBlob", "delete"]],
  [store.stateStore, ["load", "save"]],
];
const numbered = (run) => async (input) => {
  process.stdout.write(`command ${++commands}\n`);
  const isLast = commands === Number(dieAt);
  if (isLast && when === "before") die();
  const done = run(...input);
  // Sent, and not answered yet.
  if (isLast && when === "during") await setImmediate().then(die);
  const result = await done;
  if (isLast) die();
  return result;
};

// Connections and tables are made before the first lease, which would not last until they are there on a busy machine.
await agent.call("hello", { userId: "ada", sessionId: `${as}-ready` });
for (const [part, names] of parts)
  for (const name of names) {
    const run = numbered(part[name].bind(part));
    part[name] = (...input) => run(input);
  }
await agent.fork("ada", "one", { as }).then(
  () => process.stdout.write("forked\n"),
  ({ code }) => process.stdout.write(`failed ${code}\n`),
);
process.exit(0);
