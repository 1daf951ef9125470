// A node whose model waits in the middle of a call until it is told to go on, and then asks for a tool.
// Usage: node slow-node.mjs <store choice as JSON>
// stdin: "call <text>" starts a call, "go" lets its model answer; stdout: "thinking <text>", "tool <text>",
// "reply <text>", "failed <code> <class>".
import { createInterface } from "node:readline";
import { textOf, tool } from "@holdfast/core";
import { z } from "zod";
import { echoAgent } from "./echo-agent.mjs";
import { openStore } from "./open-store.mjs";

const { store } = openStore(JSON.parse(process.argv[2]));
const say = (line) => process.stdout.write(`${line}\n`);
let go = () => undefined;
let asked = "";
const act = tool({
  name: "act",
  description: "Has an effect on the world.",
  input: z.object({ what: z.string() }),
  execute: ({ what }) => {
    say(`tool ${what}`);
    return "done";
  },
});
const agent = echoAgent(store, {
  tools: [act],
  beforeReply: async (text) => {
    if (text !== asked) return { text: `re: ${asked}` };
    say(`thinking ${text}`);
    await new Promise((resolve) => {
      go = resolve;
    });
    return { toolCalls: [{ name: "act", input: { what: text } }] };
  },
});

createInterface({ input: process.stdin }).on("line", (line) => {
  if (line === "go") return go();
  asked = line.slice("call ".length);
  agent.call(asked, { userId: "u", sessionId: "s" }).then(
    (reply) => say(`reply ${textOf(reply.message)}`),
    (error) => say(`failed ${error.code} ${error.errorClass}`),
  );
});
// Connections and tables are made before the first lease, which would not last until they are there on a busy machine.
await agent.call("hello", { userId: "u", sessionId: "ready" });
say("ready");
