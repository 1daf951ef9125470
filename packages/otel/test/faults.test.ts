import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { AgentState } from "@holdfast/core";
import { eventually, scriptedModel } from "@holdfast/testing";
import { context, createContextKey, trace } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, type SpanProcessor } from "@opentelemetry/sdk-trace-base";
import { expect, onTestFinished, test } from "vitest";
import type { OtelOptions } from "../src/index.js";
import { TelemetryLab, toolNamed } from "./telemetry-lab.js";

const broken = (): never => {
  throw new Error("broken");
};
const silent: SpanProcessor = {
  onStart: () => undefined,
  onEnd: () => undefined,
  forceFlush: async () => undefined,
  shutdown: async () => undefined,
};
const looking = () => ({
  model: scriptedModel([{ toolCalls: [{ name: "look", input: {} }] }, "Seen."]),
  tools: [toolNamed("look", () => "a door")],
});

test.each([
  ["processor when a span starts", { spanProcessors: [{ ...silent, onStart: broken }] }],
  ["processor when a span ends", { spanProcessors: [{ ...silent, onEnd: broken }] }],
  ["sampler", { sampler: { shouldSample: broken } }],
])("a %s that throws fails neither the call nor the tool", async (_, options) => {
  const lab = new TelemetryLab();
  const tracerProvider = new BasicTracerProvider(options);
  const agent = lab.agent(looking(), { tracerProvider, content: true });
  expect(await agent.call("Look.", { sessionId: "s" })).toMatchObject({
    text: "Seen.",
    reason: "stop",
  });
  expect(await lab.points("holdfast.active_calls")).toMatchObject([{ value: 0 }]);
  for (const [name, count] of [
    ["gen_ai.client.operation.duration", 2],
    ["gen_ai.execute_tool.duration", 1],
    ["gen_ai.invoke_agent.duration", 1],
  ] as const)
    expect(await lab.points(name), name).toMatchObject([{ value: { count } }]);
});

test("a view that throws fails nothing and leaves no span open", async () => {
  const lab = new TelemetryLab();
  const meterProvider = new MeterProvider({
    views: [{ instrumentName: "*", attributesProcessors: [{ process: broken }] }],
    readers: [
      new PeriodicExportingMetricReader({
        exporter: new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE),
        exportIntervalMillis: 3_600_000,
      }),
    ],
  });
  onTestFinished(() => meterProvider.shutdown());
  const agent = lab.agent(looking(), { meterProvider });
  expect((await agent.call("Look.", { sessionId: "s" })).text).toBe("Seen.");
  expect(lab.spans).toHaveLength(6);
  expect(lab.openSpans).toBe(0);
});

test("functions that are async in spite of their type, and fail, do not end the process", async () => {
  const lab = new TelemetryLab();
  const unhandled: unknown[] = [];
  const listen = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", listen);
  onTestFinished(() => void process.off("unhandledRejection", listen));
  const late = async () => broken();
  const options = { attributes: late, describeModel: late } as unknown as OtelOptions;
  await lab.agent(looking(), options).call("Look.", { sessionId: "s" });
  await new Promise((done) => setImmediate(done));
  expect(unhandled).toEqual([]);
});

test("a chunk that no JSON can hold leaves no span open", async () => {
  const lab = new TelemetryLab();
  const circular: Record<string, unknown> = {};
  circular["itself"] = circular;
  const agent = lab.agent(
    {
      model: {
        id: "x/m",
        async *stream() {
          yield { type: "tool_call", id: "c", name: "look", input: circular as never };
        },
      },
    },
    { content: true },
  );
  await expect(agent.call("Hi", { sessionId: "s" })).rejects.toThrow();
  expect(lab.spans.map(({ name }) => name)).toContain("chat m");
  expect(lab.openSpans).toBe(0);
});

test("a call that is not to be traced does not write into the call whose tool made it", async () => {
  const lab = new TelemetryLab();
  const suppressed = createContextKey("OpenTelemetry SDK Context Key SUPPRESS_TRACING");
  for (const meterProvider of [lab.meterProvider, undefined]) {
    const agent = lab.agent(
      {
        model: scriptedModel((_, index) =>
          index === 0 ? { toolCalls: [{ name: "again", input: {} }] } : "Done.",
        ),
        tools: [
          toolNamed("again", () =>
            context.with(context.active().setValue(suppressed, true), async () => {
              const { text } = await agent.call("within", { sessionId: "t" });
              return text;
            }),
          ),
        ],
      },
      { content: true, meterProvider },
    );
    const before = lab.spans.length;
    await agent.call("outer", { sessionId: "s" });
    const spans = lab.spans.slice(before);
    const call = spans.find(({ name }) => name === "invoke_agent helper");
    const save = spans.find(({ name }) => name === "holdfast.state.save");
    expect(call?.attributes["gen_ai.input.messages"]).toContain("outer");
    expect(save?.attributes["holdfast.state.messages"]).toBe(4);
    expect(spans).toHaveLength(6);
  }
});

test("without a tracer of its own the plugin leaves the active span where it is", async () => {
  const lab = new TelemetryLab();
  const agent = lab.agent(
    {
      model: scriptedModel([{ toolCalls: [{ name: "look", input: {} }] }, "Seen."]),
      tools: [toolNamed("look", () => void trace.getActiveSpan()?.setAttribute("door", true))],
    },
    { tracerProvider: undefined },
  );
  await lab.tracer.startActiveSpan("request", async (span) => {
    await agent.call("Look.", { sessionId: "s" });
    span.end();
  });
  expect(lab.span("request").attributes).toEqual({ door: true });
});

test("what a call left running does not keep its session's state", async () => {
  const lab = new TelemetryLab();
  let state: WeakRef<AgentState> | undefined;
  let timer: NodeJS.Timeout | undefined;
  onTestFinished(() => clearInterval(timer));
  const agent = lab.agent({
    model: scriptedModel(() => "Hi."),
    middleware: [
      {
        name: "leaving",
        onReasoning(step, next) {
          state = new WeakRef(step.state);
          timer = setInterval(() => undefined, 3_600_000);
          return next();
        },
      },
    ],
  });
  await agent.call("Hi", { sessionId: "s" });
  await agent.deleteSession({ sessionId: "s" });
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  await eventually(() => {
    collect();
    return state?.deref() === undefined;
  });
});
