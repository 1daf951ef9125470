import {
  type AgentEvent,
  definePlugin,
  type EventBody,
  InMemoryAgentStateStore,
  listGuard,
  type Middleware,
  type ModelChunk,
  ModelError,
  ReActAgent,
  ShuttingDownError,
  tool,
} from "@holdfast/core";
import { eventually } from "@holdfast/testing";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { chunkModel, finish, text } from "./chunk-model.js";
import { pairedModel } from "./valid-pairing.js";

const add = tool({
  name: "add",
  description: "Adds.",
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});

async function read(events: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const list: AgentEvent[] = [];
  for await (const event of events) list.push(event);
  return list;
}

/** Numbered 0, 1, 2 …, one call, `call_end` once and last. */
function expectWhole(events: readonly AgentEvent[]): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index));
  expect(new Set(events.map(({ callId }) => callId)).size).toBe(1);
  expect(events[0]?.type).toBe("call_start");
  expect(events.findIndex(({ type }) => type === "call_end")).toBe(events.length - 1);
}

describe.each([true, false])("events of a call, fused: %s", (fused) => {
  const stateStore = () => new InMemoryAgentStateStore({ fused });

  test("of a turn with tools come in order, each with its slot and call, and to onEvent the same", async () => {
    const observed: AgentEvent[] = [];
    const first = { inputTokens: 10, outputTokens: 2, cachedInputTokens: 4 };
    const second = { inputTokens: 20, outputTokens: 3 };
    const model = pairedModel([
      {
        toolCalls: [
          { name: "add", input: { a: 1, b: 2 } },
          { name: "sub", input: {} },
        ],
        usage: first,
      },
      { text: "abc", usage: second },
    ]);
    const agent = new ReActAgent({
      name: "a",
      model,
      tools: [add],
      stateStore: stateStore(),
      onEvent: (event) => observed.push(event),
    });
    const run = agent.stream("1+2", { userId: "u", sessionId: "s" });
    const events = await read(run);
    expectWhole(events);
    expect(events.map(({ type }) => type)).toEqual([
      "call_start",
      "state_loaded",
      ...(fused ? [] : ["state_saved"]),
      "model_call_start",
      ...["tool_call_start", "tool_call_end", "tool_call_start", "tool_call_end"],
      "model_call_end",
      ...["tool_result", "tool_result"],
      "model_call_start",
      ...["text_delta", "text_delta", "text_delta"],
      "model_call_end",
      "state_saved",
      "call_end",
    ]);
    expect(observed).toEqual(events);
    const reply = await run.result;
    const usage = { inputTokens: 30, outputTokens: 5, cachedInputTokens: 4 };
    expect(reply.usage).toEqual(usage);
    expect(events.at(-1)).toMatchObject({ reason: "stop", usage });
    expect(events.filter(({ type }) => type === "model_call_end")).toMatchObject([
      { purpose: "reasoning", model: "scripted", usage: first },
      { purpose: "reasoning", model: "scripted", usage: second },
    ]);
    for (const { slot, callId, runId } of events) {
      expect(slot).toEqual({ agentId: "a", userId: "u", sessionId: "s" });
      expect(callId).toBe(run.callId);
      expect(runId).toBe(reply.runId);
    }
    const ids = events.flatMap((event) => (event.type === "tool_call_end" ? event.toolCallId : []));
    const results = events.flatMap((event) =>
      event.type === "tool_result" ? [[event.toolCallId, event.name, event.state]] : [],
    );
    expect(results.toSorted()).toEqual(
      [
        [ids[0], "add", "success"],
        [ids[1], "sub", "error"],
      ].toSorted(),
    );
    const saves = events.flatMap((event) => (event.type === "state_saved" ? [event] : []));
    expect(saves.map(({ final }) => final)).toEqual(fused ? [true] : [false, true]);
    expect(saves.at(-1)).toMatchObject({ revision: expect.any(String) });
  });

  test("deltas of a tool call carry the id the call ends with", async () => {
    const delta = (id: string, inputDelta: string): ModelChunk => ({
      type: "tool_call_delta",
      id,
      name: "add",
      inputDelta,
    });
    const call = (id: string): ModelChunk => ({
      type: "tool_call",
      id,
      name: "add",
      input: { a: 1, b: 1 },
    });
    const model = chunkModel([
      [
        delta("x", '{"a"'),
        delta("y", "{"),
        delta("x", ":1}"),
        call("x"),
        call("y"),
        finish("tool_calls"),
      ],
      [text("2"), finish()],
    ]);
    const agent = new ReActAgent({ name: "a", model, tools: [add], stateStore: stateStore() });
    const events = await read(agent.stream("go"));
    const shown = events.flatMap((event) =>
      "toolCallId" in event ? [[event.type, event.toolCallId]] : [],
    );
    const [x, y] = [shown[0]?.[1], shown[2]?.[1]];
    expect(x).not.toBe(y);
    expect(shown).toEqual([
      ["tool_call_start", x],
      ["tool_call_delta", x],
      ["tool_call_start", y],
      ["tool_call_delta", y],
      ["tool_call_delta", x],
      ["tool_call_end", x],
      ["tool_call_end", y],
      ["tool_result", x],
      ["tool_result", y],
    ]);
    const state = await agent.getAgentState();
    expect(
      state?.context[1]?.content.map((block) => block.type === "tool_call" && block.id),
    ).toEqual([x, y]);
  });

  test("end with call_end when the call fails, and say how", async () => {
    const error = new ModelError("down");
    const model = pairedModel([{ text: "par", error }]);
    const agent = new ReActAgent({ name: "a", model, stateStore: stateStore() });
    const events = await read(agent.stream("go"));
    expectWhole(events);
    expect(events.slice(-5)).toMatchObject([
      { type: "model_call_end", error: "MODEL" },
      { type: "attempt_discarded", reason: "failed", textChars: 3 },
      { type: "state_saved" },
      { type: "error", code: "MODEL", message: "down" },
      { type: "call_end", reason: "error" },
    ]);
  });

  test("do not quote foreign errors, which may hold contents", async () => {
    const model = pairedModel([{ error: new TypeError("secret words") }]);
    const agent = new ReActAgent({ name: "a", model, stateStore: stateStore() });
    const events = await read(agent.stream("go"));
    expect(JSON.stringify(events)).not.toContain("secret words");
    expect(events.at(-2)).toMatchObject({ type: "error", code: "UNKNOWN" });
  });

  test("end with call_end when the call is interrupted", async () => {
    const model = pairedModel(async () => new Promise(() => {}));
    const agent = new ReActAgent({ name: "a", model, stateStore: stateStore() });
    const run = agent.stream("go", { sessionId: "s" });
    await eventually(() => model.requests.length === 1);
    await agent.interrupt(null, "s");
    const events = await read(run);
    expectWhole(events);
    expect(events.map(({ type }) => type)).toContain("interrupted");
    expect(events.at(-1)).toMatchObject({ reason: "interrupted" });
  });

  test("of a call that is refused are there too", async () => {
    const agent = new ReActAgent({ name: "a", model: pairedModel([]), stateStore: stateStore() });
    await agent.close();
    const run = agent.stream("go");
    const events = await read(run);
    expectWhole(events);
    expect(events.map(({ type }) => type)).toEqual(["call_start", "error", "call_end"]);
    await expect(run.result).rejects.toSatisfy(ShuttingDownError.is);
  });

  test("say who is asked, and how calls ended that were denied or answered from outside", async () => {
    const guard = definePlugin({
      name: "guard",
      contract: 1,
      setup: (host) => host.provide("toolGuard", listGuard({ ask: ["add"], deny: ["never"] })),
    });
    const never = tool({ name: "never", description: "Never.", input: z.object({}) });
    const outside = tool({ name: "outside", description: "Elsewhere.", input: z.object({}) });
    const model = pairedModel([
      {
        toolCalls: [
          { name: "add", input: { a: 1, b: 1 } },
          { name: "never", input: {} },
          { name: "outside", input: {} },
        ],
      },
      "done",
    ]);
    const agent = new ReActAgent({
      name: "a",
      model,
      tools: [add, never, outside],
      plugins: [guard],
      stateStore: stateStore(),
    });
    const told = (events: readonly AgentEvent[]) =>
      events.flatMap((event): unknown[] =>
        event.type === "tool_result"
          ? [`${event.name} ${event.state}`]
          : event.type === "permission_ask"
            ? [event.pending.map(({ name, state }) => `${name} ${state}`)]
            : [],
      );
    const first = agent.stream("go");
    expect(told(await read(first))).toEqual(["never denied", ["add asking"]]);
    const asking = await first.result;
    if (asking.reason !== "permission_asking") throw new Error("not asking");
    const [{ toolCallId = "" } = {}] = asking.pending;
    const second = agent.stream({ confirm: [{ toolCallId, approve: false }] });
    expect(told(await read(second))).toEqual(["add denied"]);
    const suspended = await second.result;
    if (suspended.reason !== "tool_suspended") throw new Error("not suspended");
    const results = suspended.pending.map((call) => ({
      toolCallId: call.toolCallId,
      output: "ok",
    }));
    expect(told(await read(agent.stream({ results })))).toEqual(["outside success"]);
  });
});

test("an event that comes when its call has ended is background work to onEvent, and call_end stays last", async () => {
  const observed: AgentEvent[] = [];
  let late = (_: EventBody) => {};
  const leaking: Middleware = {
    name: "leaking",
    onCall: async (step, next) => {
      late = (event) => step.emit(event);
      return next();
    },
  };
  const agent = new ReActAgent({
    name: "a",
    model: pairedModel(["ok"]),
    middleware: [leaking],
    onEvent: (event) => observed.push(event),
  });
  const run = agent.stream("hi");
  await run.result;
  late({ type: "memory_flush_start" });
  expectWhole(await read(run));
  expectWhole(observed.filter(({ background }) => background !== true));
  expect(observed.filter(({ background }) => background)).toMatchObject([
    { type: "memory_flush_start" },
  ]);
});

test("tokens of a helper call that a hook tells of count with the call's", async () => {
  const usage = { inputTokens: 100, outputTokens: 10 };
  const summing: Middleware = {
    name: "summing",
    onReasoning: async (step, next) => {
      const request = { requestId: "r-1", purpose: "summary", model: "m" };
      step.emit({ type: "model_call_end", ...request, usage, durationMs: 1 });
      return next();
    },
  };
  const model = pairedModel([{ text: "ok", usage: { inputTokens: 1, outputTokens: 2 } }]);
  const run = new ReActAgent({ name: "a", model, middleware: [summing] }).stream("hi");
  const events = await read(run);
  const total = { inputTokens: 101, outputTokens: 12 };
  expect((await run.result).usage).toEqual(total);
  expect(events.at(-1)).toMatchObject({ usage: total });
  expect(events.flatMap((event) => (event.type === "model_call_end" ? event.purpose : []))).toEqual(
    ["summary", "reasoning"],
  );
});

test("results that a hook made up are told like any other", async () => {
  const model = pairedModel([{ toolCalls: [{ name: "add", input: { a: 1, b: 2 } }] }, "done"]);
  const sparing: Middleware = {
    name: "sparing",
    onActing: async ({ calls }) =>
      calls.map(({ id: toolCallId, name }) => ({
        type: "tool_result",
        toolCallId,
        name,
        state: "success",
        output: [],
      })),
  };
  const agent = new ReActAgent({ name: "a", model, tools: [add], middleware: [sparing] });
  const results = (await read(agent.stream("go"))).filter(({ type }) => type === "tool_result");
  expect(results).toMatchObject([{ name: "add", state: "success" }]);
});

test.each<[string, () => void]>([
  [
    "throws",
    () => {
      throw new Error("watcher");
    },
  ],
  ["rejects", () => Promise.reject(new Error("watcher"))],
])("an onEvent that %s does not fail the call, nor the process", async (_, onEvent) => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on("unhandledRejection", note);
  const agent = new ReActAgent({ name: "a", model: pairedModel(["ok"]), onEvent });
  expect((await agent.call("hi")).text).toBe("ok");
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

test("an event is told apart by its type", () => {
  const event = { type: "text_delta", text: "x" } as AgentEvent;
  if (event.type === "text_delta") expectTypeOf(event.text).toEqualTypeOf<string>();
  if (event.type === "call_end") expectTypeOf(event.usage.inputTokens).toEqualTypeOf<number>();
  expectTypeOf<AgentEvent["seq"]>().toEqualTypeOf<number>();
  expect(event.type).toBe("text_delta");
});
