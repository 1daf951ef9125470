import {
  definePlugin,
  type EventBody,
  keepLastCompactor,
  type PluginHost,
  type Slot,
} from "@holdfast/core";
import type {} from "@holdfast/memory-flush";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { TelemetryLab, withError } from "./telemetry-lab.js";

const slot: Slot = { agentId: "helper", userId: null, sessionId: "s" };
const usage = { inputTokens: 7, outputTokens: 3 };
const chat = { requestId: "r-1", purpose: "memory_flush", model: "x/m" } as const;
const chatStart: EventBody = { type: "model_call_start", ...chat, messages: 1, attempt: 1 };
const chatEnd: EventBody = { type: "model_call_end", ...chat, usage, durationMs: 1 };

/** An agent with a plugin that tells of background work. */
function agentWithBackground(lab: TelemetryLab) {
  let host: PluginHost | undefined;
  const working = definePlugin({
    name: "working",
    contract: 1,
    setup(given) {
      host = given;
      given.provide("compactor", keepLastCompactor({ keepMessages: 1 }));
    },
  });
  const agent = lab.agent({ model: scriptedModel(() => "Hi."), plugins: [working] });
  return {
    agent,
    emit: (callId: string, events: readonly EventBody[], at = slot) => {
      for (const event of events) host?.emit(at, callId, event);
    },
  };
}

test("a flush is a trace of its own that links to the session's last call", async () => {
  const lab = new TelemetryLab();
  const { agent, emit } = agentWithBackground(lab);
  await agent.call("one", { sessionId: "s" });
  await agent.call("two", { sessionId: "other" });
  emit("flush-1", [
    { type: "memory_flush_start" },
    chatStart,
    chatEnd,
    { type: "memory_flush_end", entries: 2, usage },
  ]);
  const flush = lab.span("holdfast.memory_flush");
  const call = lab.spans.find(
    ({ name, attributes }) =>
      name === "invoke_agent helper" && attributes["gen_ai.conversation.id"] === "s",
  );
  expect(flush.parentSpanContext).toBeUndefined();
  expect(flush.links.map(({ context }) => context.spanId)).toEqual([call?.spanContext().spanId]);
  expect(flush.attributes).toMatchObject({
    "gen_ai.conversation.id": "s",
    "gen_ai.usage.input_tokens": 7,
    "holdfast.memory_flush.entries": 2,
  });
  expect(lab.tree()).toContain("holdfast.memory_flush\n  chat m");
  expect(lab.openSpans).toBe(0);
});

test("of two requests alike that run at once, each ends its own span", () => {
  const lab = new TelemetryLab();
  const { emit } = agentWithBackground(lab);
  const request = (requestId: string, inputTokens: number) => ({
    start: { ...chatStart, requestId, messages: inputTokens },
    end: { ...chatEnd, requestId, usage: { inputTokens, outputTokens: 1 } },
  });
  const [one, two] = [request("r-1", 10), request("r-2", 20)];
  emit("flush-1", [{ type: "memory_flush_start" }, one.start, two.start, one.end, two.end]);
  emit("flush-1", [{ type: "memory_flush_end", entries: 0, usage }]);
  const chats = lab.spans.filter(({ name }) => name === "chat m");
  expect(
    chats.map(({ attributes }) => [
      attributes["holdfast.messages"],
      attributes["gen_ai.usage.input_tokens"],
    ]),
  ).toEqual([
    [10, 10],
    [20, 20],
  ]);
});

test("a flush begun where its call ends is part of neither the call nor its caller", async () => {
  const lab = new TelemetryLab();
  let host: PluginHost | undefined;
  const flushing = definePlugin({
    name: "flushing",
    contract: 1,
    setup(given) {
      host = given;
      given.observe((event) => {
        if (event.type === "call_end")
          host?.emit(event.slot, "flush", { type: "memory_flush_start" });
      });
    },
  });
  const agent = lab.agent({ model: scriptedModel(["Hi."]), plugins: [flushing] });
  await lab.tracer.startActiveSpan("request", async (span) => {
    await agent.call("one", { sessionId: "s" });
    host?.emit(slot, "flush", { type: "memory_flush_failed", error: "MODEL" });
    span.end();
  });
  expect(lab.tree(withError)).toBe(
    `request
  invoke_agent helper
    holdfast.state.load
    chat scripted
    holdfast.state.save
holdfast.memory_flush !MODEL`,
  );
  const [link] = lab.span("holdfast.memory_flush").links;
  expect(link?.context.spanId).toBe(lab.span("invoke_agent helper").spanContext().spanId);
});

test("a consolidation that fails is an error with a code, not with words", async () => {
  const lab = new TelemetryLab();
  const { emit } = agentWithBackground(lab);
  emit("c-1", [
    { type: "consolidation", state: "start" },
    chatStart,
    { type: "consolidation", state: "failed", error: "the notes of today are full" },
  ]);
  expect(lab.tree(withError)).toBe("holdfast.consolidation !_OTHER\n  chat m !_OTHER");
  expect(await lab.points("holdfast.background.duration")).toMatchObject([
    { attributes: { "holdfast.background.kind": "consolidation", "error.type": "_OTHER" } },
  ]);
});

test("work whose end nobody tells of is let go when there is too much, and when the agent closes", async () => {
  const lab = new TelemetryLab();
  const { agent, emit } = agentWithBackground(lab);
  for (let index = 0; index < 1_000; index++) {
    emit(`f-${index}`, [{ type: "memory_flush_start" }, chatStart]);
    emit(`loose-${index}`, [chatStart]);
  }
  expect(lab.openSpans).toBeLessThanOrEqual(3 * 256);
  await agent.close();
  expect(lab.openSpans).toBe(0);
});

test("work of two sessions under one call id is kept apart", async () => {
  const lab = new TelemetryLab();
  const { emit } = agentWithBackground(lab);
  const there = { ...slot, sessionId: "there" };
  for (const at of [slot, there]) emit("same", [chatStart, { type: "memory_flush_start" }], at);
  for (const at of [there, slot])
    emit("same", [{ type: "memory_flush_end", entries: 0 }, chatEnd], at);
  expect(lab.openSpans).toBe(0);
  for (const name of ["chat m", "holdfast.memory_flush"]) {
    const spans = lab.spans.filter((span) => span.name === name);
    expect(spans.map(withError)).toEqual([name, name]);
    expect(spans.map(({ attributes }) => attributes["gen_ai.conversation.id"])).toEqual([
      ...["there", "s"],
    ]);
  }
});

test("a compaction by hand is part of whatever its caller does", async () => {
  const lab = new TelemetryLab();
  const { agent } = agentWithBackground(lab);
  for (const text of ["one", "two"]) await agent.call(text, { sessionId: "s" });
  const before = lab.spans.length;
  await lab.tracer.startActiveSpan("request", async (span) => {
    await agent.compact({ sessionId: "s" }, { force: true });
    span.end();
  });
  const names = lab.spans.slice(before).map(({ name }) => name);
  const parents = new Set(
    lab.spans.slice(before, -1).map((span) => span.parentSpanContext?.spanId),
  );
  expect(names).toContain("holdfast.state.save");
  expect([...parents]).toEqual([lab.span("request").spanContext().spanId]);
  expect(lab.openSpans).toBe(0);
});

test("an edit of a state outside any trace makes no trace of its own", async () => {
  const lab = new TelemetryLab();
  const { agent } = agentWithBackground(lab);
  await agent.updateAgentState({ sessionId: "s" }, () => undefined);
  expect(lab.spans).toEqual([]);
  expect(await lab.points("holdfast.state.save.duration")).toHaveLength(1);
});
