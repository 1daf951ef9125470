import { type Message, type Model, type ModelChunk, ReActAgent, tool } from "@holdfast/core";
import { eventually, scriptedModel } from "@holdfast/testing";
import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { otel } from "../src/index.js";
import { deferred, nanos, TelemetryLab, toolNamed } from "./telemetry-lab.js";

test("a call is a tree: load, model calls, tools and save under it, and it under its caller", async () => {
  const lab = new TelemetryLab();
  const look = toolNamed("look", () =>
    lab.tracer.startActiveSpan("inside", (span) => void span.end()),
  );
  const agent = lab.agent({
    model: scriptedModel([{ toolCalls: [{ name: "look", input: {} }] }, "Seen."]),
    tools: [look],
    persistence: "step",
  });
  await lab.tracer.startActiveSpan("request", async (span) => {
    await agent.call("Look.", { sessionId: "s-1" });
    span.end();
  });
  expect(lab.tree()).toBe(
    `request
  invoke_agent helper
    holdfast.state.load
    chat scripted
    holdfast.state.save
    execute_tool look
      inside
    holdfast.state.save
    chat scripted
    holdfast.state.save`,
  );
  expect(lab.openSpans).toBe(0);
});

test("spans carry the attributes of the conventions", async () => {
  const lab = new TelemetryLab();
  const agent = lab.agent({
    agentId: "helper-7",
    model: scriptedModel(
      [
        { toolCalls: [{ name: "look", input: {}, id: "c-1" }] },
        { text: "Seen.", usage: { inputTokens: 30, outputTokens: 2, cachedInputTokens: 10 } },
      ],
      { id: "anthropic.messages/claude-9" },
    ),
    tools: [toolNamed("look", () => "a door")],
  });
  const reply = await agent.call("Look.", { sessionId: "s-1", userId: "alice" });
  const call = lab.span("invoke_agent helper");
  expect(call.kind).toBe(SpanKind.INTERNAL);
  expect(call.status.code).toBe(SpanStatusCode.UNSET);
  expect(call.attributes).toEqual({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.id": "helper-7",
    "gen_ai.agent.name": "helper",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.request.model": "claude-9",
    "gen_ai.conversation.id": "s-1",
    "gen_ai.usage.input_tokens": reply.usage.inputTokens,
    "gen_ai.usage.output_tokens": reply.usage.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": 10,
    "holdfast.call.id": reply.callId,
    "holdfast.call.reason": "stop",
  });
  const [first, second] = lab.spans.filter(({ name }) => name === "chat claude-9");
  expect(first?.kind).toBe(SpanKind.CLIENT);
  expect(first?.attributes["gen_ai.response.finish_reasons"]).toEqual(["tool_calls"]);
  expect(second?.attributes).toEqual({
    "gen_ai.operation.name": "chat",
    "gen_ai.agent.name": "helper",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.request.model": "claude-9",
    "gen_ai.request.stream": true,
    "gen_ai.response.finish_reasons": ["stop"],
    "gen_ai.response.time_to_first_chunk": expect.any(Number),
    "gen_ai.conversation.id": "s-1",
    "gen_ai.usage.input_tokens": 30,
    "gen_ai.usage.output_tokens": 2,
    "gen_ai.usage.cache_read.input_tokens": 10,
    "holdfast.attempt": 1,
    "holdfast.call.id": reply.callId,
    "holdfast.messages": 3,
    "holdfast.purpose": "reasoning",
  });
  const executed = lab.span("execute_tool look");
  expect(executed.kind).toBe(SpanKind.INTERNAL);
  expect(executed.attributes).toMatchObject({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "look",
    "gen_ai.tool.type": "function",
    "gen_ai.tool.call.id": expect.any(String),
    "holdfast.tool.state": "success",
  });
  expect(lab.span("holdfast.state.load").attributes).toMatchObject({
    "holdfast.state.source": "new",
    "holdfast.state.messages": 0,
  });
  expect(lab.span("holdfast.state.save").attributes).toMatchObject({
    "holdfast.state.bytes": expect.any(Number),
    "holdfast.state.final": true,
    "holdfast.state.messages": 4,
    "holdfast.state.revision_seq": 1,
  });
});

test("what a model does to get its chunks is part of its span", async () => {
  const lab = new TelemetryLab();
  const model: Model = {
    id: "acme/m",
    async *stream() {
      lab.tracer.startSpan("POST").end();
      await Promise.resolve();
      yield { type: "text_delta", text: "Hi" };
      lab.tracer.startSpan("read").end();
      yield { type: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: 1 } };
    },
  };
  await lab.agent({ model }).call("Hello", { sessionId: "s" });
  expect(lab.tree()).toBe(
    `invoke_agent helper
  holdfast.state.load
  chat m
    POST
    read
  holdfast.state.save`,
  );
});

test("a model's own iterator may answer without promises", async () => {
  const lab = new TelemetryLab();
  const chunks: ModelChunk[] = [
    { type: "text_delta", text: "Hi." },
    { type: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: 1 } },
  ];
  const model: Model = {
    id: "acme/m",
    stream: () => ({
      [Symbol.asyncIterator]: () => chunks.values() as unknown as AsyncIterator<ModelChunk>,
    }),
  };
  expect((await lab.agent({ model }).call("Hello", { sessionId: "s" })).text).toBe("Hi.");
});

test("an agent called by a tool is part of that tool, and tools in parallel keep apart", async () => {
  const lab = new TelemetryLab();
  const child = (name: string) =>
    lab.agent({ name, model: scriptedModel([`I am ${name}.`], { id: `x/${name}` }) });
  const ask = (name: string) => {
    const agent = child(name);
    return toolNamed(name, async () => (await agent.call("Who?", { sessionId: name })).text);
  };
  const names = ["ann", "bob", "cid"];
  const agent = lab.agent({
    model: scriptedModel([
      { toolCalls: names.map((name, index) => ({ name, input: {}, id: `c${index}` })) },
      "All answered.",
    ]),
    tools: names.map(ask),
  });
  await agent.call("Ask all.", { sessionId: "s" });
  for (const name of names) {
    const executed = lab.span(`execute_tool ${name}`);
    const called = lab.span(`invoke_agent ${name}`);
    const chat = lab.span(`chat ${name}`);
    expect(executed.parentSpanContext?.spanId).toBe(
      lab.span("invoke_agent helper").spanContext().spanId,
    );
    expect(called.parentSpanContext?.spanId).toBe(executed.spanContext().spanId);
    expect(chat.parentSpanContext?.spanId).toBe(called.spanContext().spanId);
  }
  expect(new Set(lab.spans.map((span) => span.spanContext().traceId)).size).toBe(1);
});

test("a call that waits has a span for it, from the wait's beginning to its turn", async () => {
  const lab = new TelemetryLab();
  const { promise: held, resolve: release } = deferred();
  const agent = lab.agent({
    model: scriptedModel(async (_, index) => {
      if (index === 0) await held;
      return "Done.";
    }),
  });
  const ctx = { sessionId: "s" };
  const first = agent.call("one", { ...ctx, callId: "first" });
  const waiting = agent.stream("two", { ...ctx, callId: "second" });
  for await (const event of waiting) {
    if (event.type === "queue_wait") release();
    if (event.type === "state_loaded") expect(event.waitedMs).toBeGreaterThan(0);
  }
  await first;
  const wait = lab.span("holdfast.queue_wait");
  const call = lab.spans.find(
    ({ name, attributes }) =>
      name === "invoke_agent helper" && attributes["holdfast.call.id"] === "second",
  );
  expect(wait.parentSpanContext?.spanId).toBe(call?.spanContext().spanId);
  expect(wait.attributes["holdfast.queue.ahead"]).toBe(1);
  const load = lab.spans.find(
    ({ name, attributes }) =>
      name === "holdfast.state.load" && attributes["holdfast.call.id"] === "second",
  );
  expect(nanos(load?.startTime)).toBeGreaterThanOrEqual(nanos(wait.endTime));
  const [waited] = (await lab.points("holdfast.queue_wait.duration")) as {
    value: { count: number; sum: number };
  }[];
  expect(waited?.value.count).toBe(2);
  expect(waited?.value.sum).toBeCloseTo((nanos(wait.endTime) - nanos(wait.startTime)) / 1e9, 2);
});

test("two runs of one call id are two trees", async () => {
  const lab = new TelemetryLab();
  const agent = lab.agent({ model: scriptedModel(["Once."]) });
  const ctx = { sessionId: "s", callId: "same" };
  const replies = await Promise.all([agent.call("Hi", ctx), agent.call("Hi", ctx)]);
  expect(replies.map(({ text }) => text)).toEqual(["Once.", "Once."]);
  expect(lab.tree()).toBe(
    `invoke_agent helper
  holdfast.state.load
  chat scripted
  holdfast.state.save
invoke_agent helper
  holdfast.queue_wait
  holdfast.state.load`,
  );
  expect(lab.openSpans).toBe(0);
});

test("a span of a user's own middleware stands between the call and the model", async () => {
  const lab = new TelemetryLab();
  const agent = lab.agent({
    model: scriptedModel(["Hi."]),
    middleware: [
      {
        name: "mine",
        onReasoning: (_, next) =>
          lab.tracer.startActiveSpan("mine", async (span) => {
            const message = await next();
            span.end();
            return message;
          }),
      },
    ],
  });
  await agent.call("Hello", { sessionId: "s" });
  expect(lab.tree()).toContain("  mine\n    chat scripted\n");
});

test("without a context manager the parts of concurrent calls still find their own call", async () => {
  const lab = new TelemetryLab();
  lab.withoutContextManager();
  const agent = lab.agent({
    model: scriptedModel(({ messages }) =>
      messages.length === 1 ? { toolCalls: [{ name: "look", input: {} }] } : "Seen.",
    ),
    tools: [toolNamed("look", () => "a door")],
  });
  await Promise.all(["a", "b", "c"].map((sessionId) => agent.call("Hi", { sessionId })));
  const tree = `invoke_agent helper
  holdfast.state.load
  chat scripted
  execute_tool look
  chat scripted
  holdfast.state.save`;
  expect(lab.tree()).toBe([tree, tree, tree].join("\n"));
  for (const span of lab.spans.filter(({ parentSpanContext }) => parentSpanContext)) {
    const call = lab.spans.find(
      (other) => other.spanContext().spanId === span.parentSpanContext?.spanId,
    );
    const session = "gen_ai.conversation.id";
    expect(span.attributes[session]).toBe(call?.attributes[session]);
    if (span.name.startsWith("chat"))
      expect(span.attributes["gen_ai.response.finish_reasons"]).toHaveLength(1);
  }
});

test("whatever is called, stopped and queued at once, every span is under the call it belongs to", async () => {
  const lab = new TelemetryLab();
  let turns = 0;
  const pause = async () => {
    for (let left = (turns++ * 7) % 5; left > 0; left--)
      await new Promise((done) => setImmediate(done));
  };
  const model = (id: string, isAsking: (messages: readonly Message[]) => boolean): Model => ({
    id,
    async *stream({ messages }) {
      await pause();
      lab.tracer.startSpan(`POST ${id}`).end();
      const ask = (call: string) =>
        ({ type: "tool_call", id: call, name: "ask", input: {} }) as const;
      if (isAsking(messages)) yield* [ask("a"), ask("b")];
      else yield { type: "text_delta", text: "Yes." };
      await pause();
      yield { type: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: 1 } };
    },
  });
  const child = lab.agent({ name: "child", model: model("low", () => false) });
  const ask = tool({
    name: "ask",
    description: "Asks.",
    input: z.object({}),
    async execute(_, { sessionId }) {
      await pause();
      // Its events are never read.
      return (await child.stream("Well?", { sessionId: `${sessionId}/${turns}` }).result).text;
    },
  });
  const agent = lab.agent({
    name: "parent",
    tools: [ask],
    model: model("high", (messages) => messages.at(-1)?.role === "user"),
  });
  const ways = ["enqueue", "enqueue", "interrupt", "enqueue", "rollback"] as const;
  await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      agent.call("Go.", { sessionId: `s${index % 4}`, onBusy: ways[index % 5] }),
    ),
  );
  expect(lab.openSpans).toBe(0);
  const byId = new Map(lab.spans.map((span) => [span.spanContext().spanId, span]));
  const [call, session] = ["holdfast.call.id", "gen_ai.conversation.id"];
  for (const { name, attributes, parentSpanContext } of lab.spans) {
    const parent = byId.get(parentSpanContext?.spanId ?? "");
    if (name === "invoke_agent parent") expect(parent).toBeUndefined();
    else if (name === "invoke_agent child") {
      expect(parent?.name).toBe("execute_tool ask");
      expect(attributes[session]).toContain(`${parent?.attributes[session]}/`);
    } else if (name.startsWith("POST")) expect(parent?.name).toBe(name.replace("POST", "chat"));
    else expect(attributes[call]).toBe(parent?.attributes[call]);
  }
  for (const { value } of await lab.points("holdfast.active_calls")) expect(value).toBe(0);
});

test("a tool whose answer comes from outside is no failure", async () => {
  const lab = new TelemetryLab();
  const agent = lab.agent({
    model: scriptedModel([{ toolCalls: [{ name: "ask_boss", input: {} }] }]),
    tools: [tool({ name: "ask_boss", description: "Asks.", input: z.object({}) })],
  });
  const reply = await agent.call("Ask.", { sessionId: "s" });
  expect(reply.reason).toBe("tool_suspended");
  const span = lab.span("execute_tool ask_boss");
  expect(span.status.code).toBe(SpanStatusCode.UNSET);
  expect(span.attributes["holdfast.tool.state"]).toBe("suspended");
  await eventually(() => lab.openSpans === 0);
});

test("an agent that reports nowhere does not disturb the call whose tool calls it", async () => {
  const lab = new TelemetryLab();
  const dark = new ReActAgent({
    name: "dark",
    model: scriptedModel(["Hello.", "Again."]),
    plugins: [otel({ content: true })],
  });
  onTestFinished(() => dark.close());
  const agent = lab.agent(
    {
      model: scriptedModel([{ toolCalls: [{ name: "ask", input: {} }] }, "Asked."]),
      tools: [
        toolNamed("ask", async () => {
          await dark.call("one", { sessionId: "d" });
          return (await dark.call("two", { sessionId: "d" })).text;
        }),
      ],
    },
    { content: true },
  );
  await agent.call("Ask.", { sessionId: "s" });
  expect(lab.spans.map(({ name }) => name)).not.toContain("invoke_agent dark");
  expect(lab.span("holdfast.state.save").attributes["holdfast.state.messages"]).toBe(4);
  expect(lab.span("invoke_agent helper").attributes["gen_ai.input.messages"]).toContain("Ask.");
  expect(lab.openSpans).toBe(0);
});
