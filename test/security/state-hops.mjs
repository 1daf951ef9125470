// Takes states through a store in two hops, in a process in which touching `__proto__` throws, and tells what came of them.
// Reads its cases from the file that the second argument names: one JSON document per line.
import { deepStrictEqual } from "node:assert";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { AgentState, ReActAgent, StateCorruptError, StateTooNewError } from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";
import { scriptedModel } from "@holdfast/testing";
import { openNodeStore } from "../history/node/open-node-store.mjs";

const [choice, file] = process.argv.slice(2);
const from = openNodeStore(JSON.parse(choice));
const to = openNodeStore(JSON.parse(choice));
const agentOf = ({ store }) =>
  new ReActAgent({ name: "agent", model: scriptedModel(["ok"]), stateStore: store.stateStore });
const agent = agentOf(to);

const guarded = [
  Object,
  Array,
  Function,
  String,
  Number,
  Boolean,
  Map,
  Set,
  Promise,
  Error,
  RegExp,
];
/** Every own property of the prototypes that careless merging changes. */
const prototypes = () =>
  guarded.map(({ prototype }) =>
    Reflect.ownKeys(prototype).map((key) => [key, Object.getOwnPropertyDescriptor(prototype, key)]),
  );
const before = prototypes();
const counts = { equal: 0, loaded: 0, refused: 0 };

try {
  Reflect.get({}, "__proto__");
  throw new Error("this process must run with --disable-proto=throw");
} catch (error) {
  if (error.code !== "ERR_PROTO_ACCESS") throw error;
}

/** Refuses everything but plain data: a revived object has another prototype, or a function in it. */
function expectPlain(value) {
  if (typeof value === "function") throw new Error("a function came back");
  if (typeof value !== "object" || value === null) return;
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== Array.prototype)
    throw new Error("an object with another prototype came back");
  for (const key of Reflect.ownKeys(value)) expectPlain(value[key]);
}

async function save({ store }, slot, { context, ...head }) {
  const write = { op: uuidv7(), expected: null, head, keep: 0, replace: [], append: context };
  await store.stateStore.save(slot, write);
}

/** What a store has of a slot, as a document. */
async function load({ store }, slot) {
  const { head, messages } = await store.stateStore.load(slot);
  expectPlain(head);
  expectPlain(messages);
  return { ...head, context: messages };
}

/** As it is, through two stores and the engine's reader. */
async function hop(document, index) {
  const state = AgentState.fromJson(document).toJSON();
  deepStrictEqual(state, document);
  const slot = { agentId: "agent", userId: document.userId, sessionId: document.sessionId };
  const first = { ...slot, agentId: `first${index}` };
  await save(from, first, document);
  const once = await load(to, first);
  deepStrictEqual(once, document);
  await save(to, { ...slot, agentId: `second${index}` }, once);
  deepStrictEqual(await load(from, { ...slot, agentId: `second${index}` }), document);
  counts.equal++;
}

/** Changed behind the engine's back: it loads or is refused, by an error that says so. */
async function readMutated(document) {
  const { userId, sessionId } = document;
  await save(from, { agentId: "agent", userId, sessionId }, document);
  try {
    expectPlain((await agent.getAgentState(userId, sessionId)).toJSON());
    counts.loaded++;
  } catch (error) {
    if (!StateCorruptError.is(error) && !StateTooNewError.is(error)) throw error;
    counts.refused++;
  }
}

let index = 0;
for await (const line of createInterface({ input: createReadStream(file) })) {
  const { document, isMutated } = JSON.parse(line);
  try {
    await (isMutated ? readMutated(document) : hop(document, index));
    deepStrictEqual(prototypes(), before);
  } catch (error) {
    console.error(`case ${index}: ${line.slice(0, 2_000)}`);
    throw error;
  }
  index++;
}
console.log(`done ${JSON.stringify(counts)}`);
await Promise.all([from.close(), to.close()]);
process.exit(0);
