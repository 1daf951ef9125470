// An agent with a memory, told by lines on stdin what to do; prints a line for everything that happens.
// Usage: node rememberer.mjs <options as JSON>; state home and workspace come from the environment.
// Lines: calls <name> <count> · advance <milliseconds> · close
import { createInterface } from "node:readline";
import { textOf } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { memoryFlush } from "@holdfast/memory-flush";
import { FileKeyValueStore, JsonFileAgentStateStore } from "@holdfast/store-json";
import { scriptedModel } from "@holdfast/testing";

/** @type {{ throttleMs?: number, minGapMs?: number, hang?: "consolidation" | "watermark", session?: string }} */
const options = JSON.parse(process.argv[2] ?? "{}");
const root = process.env.HOLDFAST_STATE_HOME;
const forever = () => new Promise(() => setInterval(() => undefined, 1_000));
const print = (/** @type {string} */ line) => process.stdout.write(`${line}\n`);
let offsetMs = 0;

const usage = { inputTokens: 1, outputTokens: 1 };
const memoryModel = scriptedModel(async ({ messages }) => {
  const [first] = messages;
  const question = first ? textOf(first) : "";
  const facts = /** @type {string[]} */ (question.match(/fact-[a-z]+-\d+;/g) ?? []);
  if (question.startsWith("Today is")) {
    const said = question.slice(question.indexOf("<conversation"));
    const heard = [...new Set(said.match(/fact-[a-z]+-\d+;/g))];
    print(`flush ${heard.join(" ")}`);
    // A flush keeps at most 50 facts; these are more than any model would list.
    const noted = heard.slice(-20).map((fact) => `- ${fact}`);
    return { text: noted.join("\n") || "NOTHING", usage };
  }
  print("consolidating");
  if (options.hang === "consolidation") await forever();
  return { text: ["# Memory", ...new Set(facts)].join("\n- "), usage };
});

const keyValue = new FileKeyValueStore({ root });
const put = keyValue.put.bind(keyValue);
keyValue.put = async (namespace, ...rest) => {
  if (options.hang === "watermark" && namespace.join() === "memory-flush,users") {
    print("watermark");
    await forever();
  }
  return put(namespace, ...rest);
};

const agent = HarnessAgent.create({
  name: "rememberer",
  model: scriptedModel(({ messages }) => ({ text: `re: ${messages.length}`, usage }), {
    keepRequests: 0,
  }),
  workspace: process.env.WORKSPACE,
  stateStore: new JsonFileAgentStateStore({ root, durability: "os" }),
  keyValue,
  clock: () => new Date(Date.now() + offsetMs),
  plugins: [
    memoryFlush({
      model: memoryModel,
      flushTrigger: { throttleMs: options.throttleMs ?? 600_000 },
      consolidation: { minGapMs: options.minGapMs ?? 600_000 },
    }),
  ],
  onEvent: (event) => {
    if (event.type === "consolidation") print(`consolidation ${event.state} ${event.error ?? ""}`);
    if (event.type === "memory_flush_end") print("flushed");
    if (event.type === "memory_flush_failed") print(`flush failed ${event.error}`);
  },
});
print("ready");
for await (const line of createInterface({ input: process.stdin })) {
  const [command, name, count] = line.split(" ");
  if (command === "advance") offsetMs += Number(name);
  if (command === "calls") {
    const ctx = { userId: "u", sessionId: options.session ?? "s" };
    for (let n = 0; n < Number(count); n++) await agent.call(`fact-${name}-${n};`, ctx);
    print(`called ${name}`);
  }
  if (command === "close") {
    await agent.close();
    process.exit(0);
  }
}
