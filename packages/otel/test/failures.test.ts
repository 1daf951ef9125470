import type {} from "@holdfast/compaction";
import {
  ContextOverflowError,
  definePlugin,
  InMemoryAgentStateStore,
  InProcessSessionGate,
  ModelError,
  type Plugin,
  StoreUnavailableError,
  userMessage,
} from "@holdfast/core";
import { askModel } from "@holdfast/core/plugin-kit";
import { eventually, scriptedModel } from "@holdfast/testing";
import { SpanStatusCode } from "@opentelemetry/api";
import { afterEach, expect, test } from "vitest";
import { BreakableGate } from "./breakable-gate.js";
import { deferred, nanos, TelemetryLab, toolNamed, withError } from "./telemetry-lab.js";

let lab: TelemetryLab;
afterEach(() => {
  // Whatever went wrong, nothing is left open.
  expect(lab.openSpans).toBe(0);
});

const secret = "the secret is xyzzy";

test("every attempt is a span, and so is the fallback's", async () => {
  lab = new TelemetryLab();
  const agent = lab.agent({
    model: scriptedModel(
      [
        { error: new ModelError(secret, { retryable: true, kind: "rate_limit" }) },
        { error: new ModelError(secret, { retryable: true, kind: "overloaded", statusCode: 529 }) },
        { error: new TypeError(secret) },
      ],
      { id: "openai.responses/big" },
    ),
    fallbackModel: scriptedModel(["From the other one."], { id: "groq/small" }),
  });
  await agent.call("Hi", { sessionId: "s" });
  expect(lab.tree(withError)).toBe(
    `invoke_agent helper
  holdfast.state.load
  chat big !rate_limit
  chat big !overloaded
  chat big !TypeError
  chat small
  holdfast.state.save`,
  );
  const chats = lab.spans.filter(({ name }) => name.startsWith("chat"));
  expect(chats.map(({ attributes }) => attributes["holdfast.attempt"])).toEqual([1, 2, 3, 1]);
  expect(chats.map(({ attributes }) => attributes["gen_ai.provider.name"])).toEqual([
    ...["openai", "openai", "openai", "groq"],
  ]);
  expect(chats[0]?.attributes["gen_ai.response.finish_reasons"]).toEqual(["error"]);
  expect(await lab.exported()).not.toContain("xyzzy");
});

test("a call that fails ends as an error with a code, never a message", async () => {
  lab = new TelemetryLab();
  const agent = lab.agent({
    model: scriptedModel([{ error: new ModelError(secret, { kind: "authentication" }) }]),
  });
  await expect(agent.call("Hi", { sessionId: "s" })).rejects.toThrow(secret);
  const call = lab.span("invoke_agent helper");
  expect(call.status).toEqual({ code: SpanStatusCode.ERROR });
  expect(call.attributes["error.type"]).toBe("authentication");
  expect(call.attributes["holdfast.call.reason"]).toBe("error");
  expect(await lab.exported()).not.toContain("xyzzy");
});

test("a foreign error is called by its class, or by its code", async () => {
  class TeapotError extends Error {
    override readonly name = "TeapotError";
  }
  for (const [error, type] of [
    [new TeapotError(secret), "TeapotError"],
    [Object.assign(new Error(secret), { code: "ECONNRESET" }), "ECONNRESET"],
    [Object.assign(new Error("x"), { code: secret, name: secret }), "_OTHER"],
    [new DOMException(secret, "TimeoutError"), "TimeoutError"],
  ] as const) {
    lab = new TelemetryLab();
    const agent = lab.agent({ model: scriptedModel([{ error }]) });
    await expect(agent.call("Hi", { sessionId: "s" })).rejects.toBe(error);
    expect(lab.span("chat scripted").attributes["error.type"]).toBe(type);
    expect(lab.span("invoke_agent helper").attributes["error.type"]).toBe(type);
    expect(await lab.exported()).not.toContain("xyzzy");
  }
});

test("a reply that a content filter stopped is one, of the call and of its model call", async () => {
  lab = new TelemetryLab();
  const agent = lab.agent({
    model: {
      id: "x/m",
      async *stream() {
        const usage = { inputTokens: 1, outputTokens: 0 };
        yield { type: "finish", reason: "content_filter", usage };
      },
    },
  });
  await expect(agent.call("Hi", { sessionId: "s" })).rejects.toMatchObject({ kind: "content" });
  expect(lab.span("chat m").attributes).toMatchObject({
    "error.type": "content",
    "gen_ai.response.finish_reasons": ["content_filter"],
  });
  expect(lab.span("invoke_agent helper").attributes["error.type"]).toBe("content");
});

test("a model that throws before it streams fails with its kind", async () => {
  lab = new TelemetryLab();
  const agent = lab.agent({
    model: {
      id: "x/m",
      stream: () => {
        throw new ModelError(secret, { kind: "authentication" });
      },
    },
  });
  await expect(agent.call("Hi", { sessionId: "s" })).rejects.toThrow(secret);
  expect(lab.span("chat m").attributes["error.type"]).toBe("authentication");
});

test("a hook that throws ends its call's spans, whichever it is", async () => {
  for (const hook of [
    ...(["onRun", "onCall", "onReasoning", "onModelCall"] as const),
    ...(["onActing", "onToolCall", "onToolResult", "onSystemPrompt"] as const),
  ]) {
    lab = new TelemetryLab();
    const throwing = {
      [hook]: () => {
        throw new RangeError(secret);
      },
    };
    const agent = lab.agent({
      model: scriptedModel([{ toolCalls: [{ name: "look", input: {} }] }, "Seen."]),
      tools: [toolNamed("look", () => "a door")],
      plugins: [
        definePlugin({
          name: "throwing",
          contract: 1,
          setup: (host) => host.use({ name: "throwing", ...throwing }),
        }),
      ],
    });
    await expect(agent.call("Hi", { sessionId: "s" }), hook).rejects.toThrow(RangeError);
    expect(lab.openSpans, hook).toBe(0);
    expect(lab.span("invoke_agent helper").attributes["error.type"]).toBe("RangeError");
    expect(await lab.points("holdfast.active_calls")).toMatchObject([{ value: 0 }]);
    expect(await lab.exported()).not.toContain("xyzzy");
  }
});

test("a shutdown ends the spans of calls that run and of calls that wait", async () => {
  lab = new TelemetryLab();
  const agent = lab.agent({ model: scriptedModel([{ text: "Late.", delayMs: 60_000 }]) });
  const first = agent.stream("one", { sessionId: "s" });
  for await (const { type } of first) if (type === "model_call_start") break;
  const second = agent.stream("two", { sessionId: "s" });
  for await (const { type } of second) if (type === "queue_wait") break;
  await agent.shutdown({ timeoutMs: 1 });
  await expect(second.result).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
  expect(lab.tree(withError)).toBe(
    `invoke_agent helper
  holdfast.state.load
  chat scripted !stopped
  holdfast.state.save
invoke_agent helper !SHUTTING_DOWN
  holdfast.queue_wait !SHUTTING_DOWN`,
  );
});

test("a tool that fails marks its own span, not the call", async () => {
  lab = new TelemetryLab();
  const agent = lab.agent({
    model: scriptedModel([{ toolCalls: [{ name: "break", input: {} }] }, "It broke."]),
    tools: [
      toolNamed("break", () => {
        throw new Error(secret);
      }),
    ],
  });
  await agent.call("Break it.", { sessionId: "s" });
  expect(lab.tree(withError)).toBe(
    `invoke_agent helper
  holdfast.state.load
  chat scripted
  execute_tool break !tool_error
  chat scripted
  holdfast.state.save`,
  );
  expect(await lab.exported()).not.toContain("xyzzy");
});

test("tool calls that do not run leave an event without the name the model made up", async () => {
  lab = new TelemetryLab();
  const agent = lab.agent({
    model: scriptedModel([{ toolCalls: [{ name: "tool_xyzzy", input: {} }] }, "Sorry."]),
  });
  await agent.call("Hi", { sessionId: "s" });
  const { events } = lab.span("invoke_agent helper");
  expect(events.map(({ name, attributes }) => [name, attributes])).toEqual([
    ["holdfast.tool_result", { "holdfast.tool.state": "error" }],
  ]);
  expect(await lab.exported()).not.toContain("xyzzy");
});

test("an interrupt ends the model call as stopped; the call itself did not fail", async () => {
  lab = new TelemetryLab();
  const agent = lab.agent({ model: scriptedModel([{ text: "Never.", delayMs: 60_000 }]) });
  const run = agent.stream("Hi", { sessionId: "s" });
  for await (const event of run)
    if (event.type === "model_call_start") void agent.interrupt({ sessionId: "s" });
  expect((await run.result).reason).toBe("interrupted");
  expect(lab.tree(withError)).toBe(
    `invoke_agent helper
  holdfast.state.load
  chat scripted !stopped
  holdfast.state.save`,
  );
  const call = lab.span("invoke_agent helper");
  expect(call.status.code).toBe(SpanStatusCode.UNSET);
  expect(call.attributes).toMatchObject({
    "holdfast.call.reason": "interrupted",
    "holdfast.interrupt.kind": "interrupt",
  });
  expect(await lab.points("holdfast.interrupts")).toMatchObject([
    { attributes: { "holdfast.interrupt.kind": "interrupt" }, value: 1 },
  ]);
});

test("an interrupt ends tools as interrupted", async () => {
  lab = new TelemetryLab();
  const agent = lab.agent({
    model: scriptedModel([{ toolCalls: [{ name: "hang", input: {} }] }]),
    tools: [
      toolNamed("hang", () => {
        void agent.interrupt({ sessionId: "s" });
        return new Promise(() => undefined);
      }),
    ],
  });
  await agent.call("Hang.", { sessionId: "s" });
  expect(lab.tree(withError)).toContain("execute_tool hang !interrupted");
});

test("a caller that gives up while it waits leaves no span open", async () => {
  lab = new TelemetryLab();
  const agent = lab.agent({ model: scriptedModel([{ text: "Late.", delayMs: 60_000 }]) });
  const first = agent.stream("one", { sessionId: "s" });
  const leave = new AbortController();
  const second = agent.stream("two", { sessionId: "s", signal: leave.signal });
  for await (const event of second) if (event.type === "queue_wait") leave.abort();
  await expect(second.result).rejects.toMatchObject({ code: "ABORTED" });
  await eventually(() => agent.interrupt({ sessionId: "s" }));
  await first.result;
  expect(lab.tree(withError)).toContain(
    "invoke_agent helper !ABORTED\n  holdfast.queue_wait !ABORTED",
  );
});

test("a lost lease ends everything", async () => {
  lab = new TelemetryLab();
  const gate = new BreakableGate();
  const agent = lab.agent({
    model: scriptedModel([{ toolCalls: [{ name: "work", input: {} }] }]),
    gate,
    tools: [
      toolNamed("work", () => {
        gate.break();
        return new Promise(() => undefined);
      }),
    ],
  });
  await expect(agent.call("Work.", { sessionId: "s" })).rejects.toMatchObject({
    code: "LEASE_LOST",
  });
  expect(lab.tree(withError)).toBe(
    `invoke_agent helper !LEASE_LOST
  holdfast.state.load
  holdfast.state.save
  chat scripted
  execute_tool work !interrupted`,
  );
  expect(lab.span("invoke_agent helper").attributes["holdfast.interrupt.kind"]).toBe("lease_lost");
});

test("a store that fails is the call's error", async () => {
  lab = new TelemetryLab();
  const stateStore = new InMemoryAgentStateStore();
  stateStore.load = async () => {
    throw new StoreUnavailableError("down");
  };
  const agent = lab.agent({
    model: scriptedModel(["Hi."]),
    stateStore,
    gate: new InProcessSessionGate(),
  });
  await expect(agent.call("Hi", { sessionId: "s" })).rejects.toThrow("down");
  expect(lab.tree(withError)).toBe("invoke_agent helper !UNAVAILABLE");
});

test("a summary is part of its compaction, and the next model call is not", async () => {
  lab = new TelemetryLab();
  const agent = lab.agent({
    model: scriptedModel(
      [{ error: new ContextOverflowError("too long") }, "Summed up.", "Here you are."],
      { id: "x/m" },
    ),
    plugins: [summarising()],
  });
  await agent.call("Hi", { sessionId: "s" });
  expect(lab.tree(withError)).toBe(
    `invoke_agent helper
  holdfast.state.load
  chat m !CONTEXT_OVERFLOW
  holdfast.compaction
    chat m
  chat m
  holdfast.state.save`,
  );
  expect(lab.span("holdfast.compaction").attributes).toMatchObject({
    "holdfast.compaction.cause": "overflow",
    "holdfast.compaction.actions": ["summary"],
    "holdfast.compaction.tokens_before": 900,
    "holdfast.compaction.tokens_after": 100,
  });
  const purposes = lab.spans
    .filter(({ name }) => name === "chat m")
    .map(({ attributes }) => attributes["holdfast.purpose"]);
  expect(purposes).toEqual(["reasoning", "summary", "reasoning"]);
  expect(lab.span("invoke_agent helper").events.map(({ name }) => name)).toEqual([
    "holdfast.overflow_recovery",
  ]);
});

test("a compaction that is interrupted, or throws, ends with its call", async () => {
  lab = new TelemetryLab();
  const interrupted = lab.agent({
    model: scriptedModel([
      { error: new ContextOverflowError("too long") },
      { text: "Never.", delayMs: 60_000 },
    ]),
    plugins: [summarising()],
  });
  const run = interrupted.stream("Hi", { sessionId: "s" });
  for await (const event of run)
    if (event.type === "model_call_start" && event.purpose === "summary")
      void interrupted.interrupt({ sessionId: "s" });
  expect((await run.result).reason).toBe("interrupted");
  expect(lab.tree(withError)).toBe(
    `invoke_agent helper
  holdfast.state.load
  chat scripted !CONTEXT_OVERFLOW
  holdfast.compaction !interrupt
    chat scripted !interrupt
  holdfast.state.save`,
  );
  lab = new TelemetryLab();
  const throwing = lab.agent({
    model: scriptedModel([{ error: new ContextOverflowError("too long") }]),
    fallbackModel: scriptedModel(["Still here."], { id: "x/other" }),
    plugins: [summarising(new Error(secret))],
  });
  await throwing.call("Hi", { sessionId: "s" });
  expect(lab.tree(withError)).toBe(
    `invoke_agent helper
  holdfast.state.load
  chat scripted !CONTEXT_OVERFLOW
  holdfast.compaction !_OTHER
  chat other
  holdfast.state.save`,
  );
  expect(await lab.exported()).not.toContain("xyzzy");
});

test("helper calls at the same time, of the same kind, each end their own span", async () => {
  lab = new TelemetryLab();
  const { promise: fastIsDone, resolve: release } = deferred();
  const helper = scriptedModel(
    async ({ messages }) => {
      const [block] = messages[0]?.content ?? [];
      if (block?.type === "text" && block.text === "slow") await fastIsDone;
      return "ok";
    },
    { id: "x/helper" },
  );
  const checking = definePlugin({
    name: "checking",
    contract: 1,
    setup: (host) =>
      host.use({
        name: "checking",
        async onToolCall(step, next) {
          await askModel({
            model: helper,
            request: { system: "", messages: [userMessage(step.call.name)], tools: [] },
            purpose: "check",
            signal: step.signal,
            maxChars: 100,
            emit: (event) => step.emit(event),
          });
          return next();
        },
      }),
  });
  const agent = lab.agent({
    model: scriptedModel([
      {
        toolCalls: [
          { name: "slow", input: {}, id: "c1" },
          { name: "fast", input: {}, id: "c2" },
        ],
      },
      "Done.",
    ]),
    tools: [toolNamed("slow", () => "s"), toolNamed("fast", () => release())],
    plugins: [checking],
  });
  await agent.call("Both.", { sessionId: "s" });
  const byTool = (name: string) => {
    const parent = lab.span(`execute_tool ${name}`).spanContext().spanId;
    return lab.spans.find(
      (span) => span.name === "chat helper" && span.parentSpanContext?.spanId === parent,
    );
  };
  expect(nanos(byTool("slow")?.endTime)).toBeGreaterThan(nanos(byTool("fast")?.endTime));
  expect(nanos(byTool("fast")?.endTime)).toBeLessThanOrEqual(
    nanos(lab.span("execute_tool fast").endTime),
  );
});

/** A compactor that asks the model for a summary, or throws in mid-work. */
function summarising(error?: Error): Plugin {
  return definePlugin({
    name: "summarising",
    contract: 1,
    setup: (host) =>
      host.provide("compactor", {
        async compact({ emit, signal, model, cause }) {
          emit({ type: "compaction_start", cause, messages: 9, tokens: 900 });
          if (error) throw error;
          await askModel({
            model,
            request: { system: "", messages: [userMessage("Sum up.")], tools: [] },
            purpose: "summary",
            signal,
            maxChars: 1_000,
            emit,
            isStopped: () => signal.aborted,
          });
          const sizes = {
            messagesBefore: 9,
            messagesAfter: 2,
            tokensBefore: 900,
            tokensAfter: 100,
          };
          emit({ type: "compaction_end", cause, actions: ["summary"], ...sizes, durationMs: 1 });
          return { compacted: true, ...sizes };
        },
      }),
  });
}
