import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  assistantMessage,
  type Model,
  type ModelChunk,
  type ModelRequest,
  toolResultMessage,
  userMessage,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { Bench } from "../bench.js";
import { stateOf } from "../conversations.js";
import type { Conversation } from "../script.js";
import { SECRET, Summariser } from "../summarisers.js";

function talk(turns: number, words = 40): Conversation {
  const messages = Array.from({ length: turns }, (_, turn) => [
    userMessage(`[u-${turn}] ${"ask ".repeat(words)}`),
    assistantMessage(`[a-${turn}] ${"answer ".repeat(words)}`),
  ]).flat();
  return { messages, openCalls: {}, summary: null, facts: new Map(), summaryFacts: [] };
}

const few = { triggerMessages: 8, keepMessages: 2 } as const;

test("the agent's model gets the conversation as it knows it, with the instruction behind", async () => {
  const model = new Summariser("good");
  const bench = new Bench(model, { ...few, summaryPrompt: "Sum up." });
  const state = stateOf(talk(5));
  const live = [...state.context];
  expect(await bench.compact(state)).toMatchObject({ compacted: true, messagesAfter: 3 });
  const [request] = model.requests;
  expect(request?.system).toBe(bench.prompt.system);
  expect(request?.tools).toBe(bench.prompt.tools);
  expect(request?.messages.slice(0, -1)).toEqual(live.slice(0, 8));
  expect(request?.messages.at(-1)?.content).toEqual([
    { type: "hint", text: "Sum up.", source: "compaction" },
  ]);
});

test("a model that goes on working instead of writing is asked again without tools", async () => {
  const model = new Summariser("tools");
  const state = stateOf(talk(5));
  await new Bench(model, few).compact(state);
  expect(model.requests.map(({ tools }) => tools.length)).toEqual([1, 0]);
  expect(state.summary).toContain("[sum-2]");
  expect(state.summary).not.toContain("Let me look");
});

test("another model gets a transcript, in pieces where its window is small", async () => {
  const model = new Summariser("good", 1_500);
  const own = new Summariser("failing");
  const state = stateOf(talk(20));
  const bench = new Bench(own, { ...few, model, summaryPrompt: "Sum up." });
  expect(await bench.compact(state)).toMatchObject({ compacted: true });
  expect(own.requests).toEqual([]);
  expect(model.requests.length).toBeGreaterThan(2);
  for (const { messages } of model.requests)
    expect(bench.meter.counter.countMessages(messages)).toBeLessThan(1_500);
  for (let turn = 0; turn < 19; turn++) expect(model.asked).toContain(`[a-${turn}]`);
});

test("an empty reply about one of several pieces is a failure: what was in it would be gone", async () => {
  const replies = ["first", "", "third", "fourth", "fifth", "sixth", "seventh", "eighth"];
  const model = scriptedModel(replies, { contextWindow: 1_500 });
  const state = stateOf(talk(20));
  const before = state.toJson();
  const result = await new Bench(model, { ...few, summaryPrompt: "{messages}" }).compact(state);
  expect(result.failure).toBe("the summary was empty");
  expect(state.toJson()).toBe(before);
});

test("results that a request must leave out are read from a transcript", async () => {
  const call = (text: string) => [
    assistantMessage([{ type: "tool_call", id: "call_0", name: "look", input: {} }]),
    toolResultMessage({
      type: "tool_result",
      toolCallId: "call_0",
      name: "look",
      output: [{ type: "text", text }],
      state: "success",
    }),
  ];
  const messages = [userMessage("a"), ...call("first fact"), ...call("second fact")];
  const model = new Summariser("good");
  const state = stateOf({ ...talk(0), messages: [...messages, ...talk(3).messages] });
  await new Bench(model, few).compact(state);
  expect(state.summary).not.toBeNull();
  expect(model.asked).toContain("second fact");
});

test("a summariser that hangs is left when its time is over, whatever the garbage collector does, and the call to it ends", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const collecting = setInterval(collect, 5);
  try {
    const bench = new Bench(new Summariser("hanging"), { ...few, timeoutMs: 60 });
    const state = stateOf(talk(5));
    const result = await bench.compact(state);
    expect(result.failure).toBe("the model did not write the summary within timeoutMs");
    expect(bench.of("model_call_start")).toHaveLength(1);
    expect(bench.of("model_call_end")).toMatchObject([
      { purpose: "summary", error: "TimeoutError" },
    ]);
  } finally {
    clearInterval(collecting);
  }
});

test("a very long time is a long time, not none", async () => {
  const bench = new Bench(new Summariser("good"), { ...few, timeoutMs: 2 ** 40 });
  expect(await bench.compact(stateOf(talk(5)))).toMatchObject({ compacted: true });
});

test("a retryable failure is tried once more; every request is told and every usage counted", async () => {
  const bench = new Bench(new Summariser("flaky"), few);
  expect(await bench.compact(stateOf(talk(5)))).toMatchObject({ compacted: true });
  expect(bench.of("model_call_start").map(({ attempt }) => attempt)).toEqual([1, 2]);
  expect(bench.of("model_call_end").map(({ error }) => error)).toEqual(["MODEL", undefined]);
  expect(bench.of("compaction_end")).toMatchObject([{ usage: { outputTokens: 7 } }]);
});

test("failures are named, never quoted", async () => {
  const failures = {
    failing: "TypeError",
    throwing: "RangeError",
    retryable: "MODEL",
    empty: "the summary was empty",
    blank: "the summary was empty",
    huge: "the summary was too long",
  } as const;
  for (const kind of Object.keys(failures) as (keyof typeof failures)[]) {
    const bench = new Bench(new Summariser(kind), few);
    const result = await bench.compact(stateOf(talk(5)));
    expect([kind, result.failure]).toEqual([kind, failures[kind]]);
    expect(JSON.stringify(bench.events)).not.toContain(SECRET);
  }
  const narrow = new Bench(new Summariser("good", 120), { ...few, reservedTokens: 0 });
  const result = await narrow.compact(stateOf(talk(5)));
  expect(result.failure).toBe("the summariser's window is too small");
});

test("what is said while a summary is written comes behind it, also when the first try is no good", async () => {
  const state = stateOf(talk(12, 5));
  const late = [userMessage("late 1"), userMessage("late 2")];
  let count = 0;
  const model: Model = {
    id: "m",
    async *stream(_: ModelRequest): AsyncGenerator<ModelChunk> {
      const message = late[count++];
      if (message) state.contextMutable().push(message);
      // The first one is so long that a shorter tail has to be tried.
      yield { type: "text_delta", text: "word ".repeat(count === 1 ? 600 : 1) };
      yield { type: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: 1 } };
    },
  };
  const bench = new Bench(model, { triggerTokens: 200, keepTokens: 100 });
  expect(await bench.compact(state)).toMatchObject({ compacted: true });
  expect(count).toBe(2);
  expect(state.context.slice(-2)).toEqual(late);
});

test("a context that was rewritten in the meantime is left alone", async () => {
  const state = stateOf(talk(5));
  const model = scriptedModel(() => {
    state.contextMutable().splice(0, 1);
    return "a summary";
  });
  const result = await new Bench(model, few).compact(state);
  expect(result.failure).toBe("the context was changed in the meantime");
  expect(state.context).toHaveLength(9);
  expect(state.summary).toBeNull();
});

test("what the provider counted is compared with what it would count, what it has not seen with itself", async () => {
  // Three times the estimate up to the report, then a tail that stays: it must not count three times afterwards.
  const old = talk(6).messages;
  const reported =
    3 * old.reduce((sum, { content }) => sum + JSON.stringify(content).length / 4, 0);
  const usage = { inputTokens: Math.ceil(reported), outputTokens: 0 };
  const messages = [
    ...old,
    assistantMessage("counted", { usage }),
    userMessage(`new ${"words ".repeat(2_000)}`),
  ];
  const state = stateOf({ ...talk(0), messages });
  const bench = new Bench(new Summariser("good"), { triggerMessages: 8, triggerTokens: 9_000 });
  expect(await bench.compact(state, { cause: "manual", force: true })).toMatchObject({
    compacted: true,
  });
  expect(bench.of("compaction_end")[0]?.tokensAfter).toBeLessThan(4_500);
});
