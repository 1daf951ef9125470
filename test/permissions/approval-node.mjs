// An agent under `permissions` in a process of its own, whose tools write what they did to a file.
// Usage: node approval-node.mjs <store choice as JSON> <file> <options as JSON: persistence, hangs>
// stdin and stdout: see serve-agent.mjs.
// The model makes the calls which a message lists as JSON, and then tells the states of their results.
import { appendFileSync } from "node:fs";
import { ReActAgent, textOf, tool, toolResultsOf } from "@holdfast/core";
import { permissions } from "@holdfast/permissions";
import { scriptedModel } from "@holdfast/testing";
import { z } from "zod";
import { openNodeStore } from "../history/node/open-node-store.mjs";
import { serveAgent } from "../processes/serve-agent.mjs";

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

await serveAgent(agent);
