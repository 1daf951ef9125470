// An agent under `permissions` in a process of its own, whose tools write what they did to a file.
// Usage: node approval-node.mjs <store choice as JSON> <file> <options as JSON: persistence, hangs>
// stdin: {"id", "method", "args"} as JSON calls a method of the agent; stdout: {"id", "value"} or {"id", "error"}.
// The model makes the calls which a message lists as JSON, and then tells the states of their results.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { ReActAgent, StoreUnavailableError, textOf, tool, toolResultsOf } from "@holdfast/core";
import { permissions } from "@holdfast/permissions";
import { scriptedModel } from "@holdfast/testing";
import { z } from "zod";
import { openNodeStore } from "../history/node/open-node-store.mjs";

const [choice, file] = [JSON.parse(process.argv[2]), process.argv[3]];
const { persistence, hangs } = JSON.parse(process.argv[4]);
const { store } = openNodeStore(choice);
const input = z.object({ text: z.string() });
const permission = { subject: ({ text }) => ({ kind: "text", value: text }) };
const did = (name, text) => appendFileSync(file, `${name} ${text}\n`);

/** Tools that leave a line in the file; with the option `hangs`, the tool `hang` never ends after that. */
const tools = ["append", "look", "drop", "hang"].map((name) =>
  tool({
    name,
    description: "Writes a line.",
    input,
    permission,
    readOnly: name === "look",
    execute: async ({ text }) => {
      did(name, text);
      if (name === "hang" && hangs) await new Promise(() => undefined);
      return `${name} done`;
    },
  }),
);

const model = scriptedModel(({ messages }) => {
  const last = messages.at(-1);
  if (last.role === "user" && textOf(last) === "hello") return "hello";
  if (last.role === "user") return { toolCalls: JSON.parse(textOf(last)) };
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const results = messages.slice(asked).flatMap(toolResultsOf);
  const why = ({ state, output }) => (state === "interrupted" ? ` (${output[0].text})` : "");
  return results.map((result) => `${result.name} ${result.state}${why(result)}`).join(", ");
});

const agent = new ReActAgent({
  name: "approvals",
  model,
  distributedStore: store,
  persistence,
  tools,
  plugins: [permissions({ rules: { deny: ["drop"] } })],
});

// Connections and tables are made before the first lease, which would not last until they are there on a busy machine.
for (let isReady = false; !isReady; ) isReady = await greet();

async function greet() {
  try {
    await agent.call("hello", { userId: "ready", sessionId: "ready" });
    return true;
  } catch (error) {
    if (!StoreUnavailableError.is(error)) throw error;
    return false;
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, args } = JSON.parse(line);
  const say = (answer) => process.stdout.write(`${JSON.stringify({ id, ...answer })}\n`);
  agent[method](...args).then(
    (value) => say({ value }),
    ({ code, message }) => say({ error: { code, message } }),
  );
});
