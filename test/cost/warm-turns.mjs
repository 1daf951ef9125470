// Runs warm turns on a session with N prior messages and prints what they cost, as one line of JSON.
// Usage: node warm-turns.mjs <prior messages> <state root>
import { readFileSync } from "node:fs";
import { ReActAgent, userMessage } from "@holdfast/core";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { scriptedModel } from "@holdfast/testing";

const [prior, root] = [Number(process.argv[2]), process.argv[3]];
const turns = 20;
const text = "x".repeat(400);
const session = { userId: "alice", sessionId: `prior-${prior}` };

// Every process pays for what it parses and writes as JSON; count it where it happens.
const json = { parsed: 0, written: 0 };
const { parse, stringify } = JSON;
JSON.parse = (source, ...rest) => {
  json.parsed += source.length;
  return parse(source, ...rest);
};
JSON.stringify = (...args) => {
  const result = stringify(...args);
  json.written += result?.length ?? 0;
  return result;
};

// With its usage given: the scripted model would serialise the whole request to estimate it.
const usage = { inputTokens: 1, outputTokens: 1 };
const model = scriptedModel(() => ({ text, usage }));
const agent = new ReActAgent({
  name: "cost",
  model,
  stateStore: new JsonFileAgentStateStore({ root }),
});
await agent.updateAgentState(session, (state) => {
  for (let n = 0; n < prior; n++) state.contextMutable().push(userMessage(text));
});
for (let n = 0; n < 3; n++) await agent.call(text, session);

const before = { ...json, ...io() };
for (let n = 0; n < turns; n++) await agent.call(text, session);
const after = { ...json, ...io() };

const [last, previous] = [model.requests.at(-1).messages, model.requests.at(-2).messages];
process.stdout.write(
  `${stringify({
    bytesWritten: (after.wchar - before.wchar) / turns,
    bytesRead: (after.rchar - before.rchar) / turns,
    jsonParsed: (after.parsed - before.parsed) / turns,
    jsonWritten: (after.written - before.written) / turns,
    sameObjects: previous.every((message, index) => message === last[index]),
    messages: last.length,
  })}\n`,
);

/** Bytes this process has read and written so far, as the kernel counts them. */
function io() {
  const counters = readFileSync("/proc/self/io", "utf8");
  const read = (name) => Number(new RegExp(`^${name}: (\\d+)`, "m").exec(counters)?.[1]);
  return { rchar: read("rchar"), wchar: read("wchar") };
}
