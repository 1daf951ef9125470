import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { ModelError } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { type Meter, metrics, trace } from "@opentelemetry/api";
import { expect, onTestFinished, test } from "vitest";
import { otel } from "../src/index.js";
import { InstrumentSource } from "../src/instruments.js";
import { TelemetryLab, toolNamed } from "./telemetry-lab.js";

test("metrics tell durations, tokens, sizes and calls under way, without ids", async () => {
  const lab = new TelemetryLab();
  let during: unknown;
  const agent = lab.agent({
    model: scriptedModel(
      [
        { error: new ModelError("busy", { retryable: true, kind: "rate_limit" }) },
        {
          toolCalls: [{ name: "look", input: {} }],
          usage: { inputTokens: 100, outputTokens: 20 },
        },
        { text: "Seen.", usage: { inputTokens: 150, outputTokens: 5 } },
      ],
      { id: "openai.chat/gpt-x" },
    ),
    tools: [
      toolNamed("look", async () => {
        [during] = await lab.points("holdfast.active_calls");
      }),
    ],
  });
  await agent.call("Look.", {
    sessionId: "session-xyzzy",
    userId: "user-xyzzy",
    callId: "call-xyzzy",
  });

  const names = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-x",
    "gen_ai.agent.name": "helper",
    "holdfast.purpose": "reasoning",
  };
  expect(await lab.points("gen_ai.client.operation.duration")).toMatchObject([
    { attributes: { ...names, "error.type": "rate_limit" }, value: { count: 1 } },
    { attributes: names, value: { count: 2 } },
  ]);
  expect(await lab.points("gen_ai.client.token.usage")).toMatchObject([
    { attributes: { ...names, "gen_ai.token.type": "input" }, value: { count: 2, sum: 250 } },
    { attributes: { ...names, "gen_ai.token.type": "output" }, value: { count: 2, sum: 25 } },
  ]);
  const agentName = { "gen_ai.agent.name": "helper" };
  expect(await lab.points("gen_ai.invoke_agent.duration")).toMatchObject([
    { attributes: { ...agentName, "holdfast.call.reason": "stop" }, value: { count: 1 } },
  ]);
  expect(await lab.points("gen_ai.execute_tool.duration")).toMatchObject([
    { attributes: { ...agentName, "gen_ai.tool.name": "look" }, value: { count: 1 } },
  ]);
  for (const name of [
    "gen_ai.client.operation.time_to_first_chunk",
    "holdfast.queue_wait.duration",
    "holdfast.state.load.duration",
    "holdfast.state.save.duration",
    "holdfast.state.save.size",
  ])
    expect(await lab.points(name), name).toHaveLength(1);
  expect(during).toMatchObject({ attributes: agentName, value: 1 });
  expect(await lab.points("holdfast.active_calls")).toMatchObject([{ value: 0 }]);
  for (const name of await lab.metricNames())
    expect(JSON.stringify(await lab.points(name)), name).not.toContain("xyzzy");
});

test("an SDK that is registered after the agent was built gets everything from then on", async () => {
  const lab = new TelemetryLab();
  const agent = lab.agent(
    { model: scriptedModel(["one", "two"]) },
    { tracerProvider: undefined, meterProvider: undefined },
  );
  await agent.call("before", { sessionId: "s" });
  trace.setGlobalTracerProvider(lab.tracerProvider);
  metrics.setGlobalMeterProvider(lab.meterProvider);
  onTestFinished(() => {
    trace.disable();
    metrics.disable();
  });
  await agent.call("after", { sessionId: "s" });
  expect(lab.tree()).toBe(
    `invoke_agent helper
  holdfast.state.load
  chat scripted
  holdfast.state.save`,
  );
  expect(await lab.points("gen_ai.invoke_agent.duration")).toMatchObject([{ value: { count: 1 } }]);
});

test("an SDK that is registered later, with another copy of the API, gets everything too", async () => {
  const lab = new TelemetryLab();
  const agent = lab.agent(
    { model: scriptedModel(["one"]) },
    { tracerProvider: undefined, meterProvider: undefined },
  );
  const other = anotherApi();
  expect(other.trace).not.toBe(trace);
  other.trace.setGlobalTracerProvider(lab.tracerProvider);
  other.metrics.setGlobalMeterProvider(lab.meterProvider);
  onTestFinished(() => {
    other.trace.disable();
    other.metrics.disable();
  });
  await agent.call("after", { sessionId: "s" });
  expect(lab.tree()).toBe(
    `invoke_agent helper
  holdfast.state.load
  chat scripted
  holdfast.state.save`,
  );
  expect(await lab.points("gen_ai.invoke_agent.duration")).toMatchObject([{ value: { count: 1 } }]);
});

test("a meter that is registered during a call does not count that call's end alone", async () => {
  const lab = new TelemetryLab();
  onTestFinished(() => metrics.disable());
  const agent = lab.agent(
    {
      model: scriptedModel(() => {
        metrics.setGlobalMeterProvider(lab.meterProvider);
        return "Hi.";
      }),
    },
    { meterProvider: undefined },
  );
  for (const text of ["one", "two"]) await agent.call(text, { sessionId: "s" });
  expect(await lab.points("holdfast.active_calls")).toMatchObject([{ value: 0 }]);
});

test("the first chunk of a reply may be a file", async () => {
  const lab = new TelemetryLab();
  const agent = lab.agent({
    model: {
      id: "x/m",
      async *stream() {
        const source = { kind: "base64", data: "AAAA" } as const;
        yield { type: "data", mediaType: "image/png", source };
        yield { type: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: 1 } };
      },
    },
  });
  await agent.call("Draw.", { sessionId: "s" });
  expect(await lab.points("gen_ai.client.operation.time_to_first_chunk")).toHaveLength(1);
});

test("the plugin is the agent's outermost by its name", () => {
  expect(otel()).toMatchObject({ name: "otel", contract: 1 });
});

test("with a meter and no tracer the numbers are the same", async () => {
  const lab = new TelemetryLab();
  const agent = lab.agent(
    {
      model: scriptedModel([
        { toolCalls: [{ name: "look", input: {} }] },
        "Seen.",
        { error: new ModelError("no", { kind: "rate_limit" }) },
      ]),
      tools: [toolNamed("look", () => "a door")],
    },
    { tracerProvider: undefined },
  );
  await agent.call("Look.", { sessionId: "s" });
  expect(lab.spans).toEqual([]);
  for (const [name, count] of [
    ["gen_ai.client.operation.duration", 2],
    ["gen_ai.client.operation.time_to_first_chunk", 2],
    ["gen_ai.execute_tool.duration", 1],
    ["gen_ai.invoke_agent.duration", 1],
    ["holdfast.state.save.size", 1],
  ] as const)
    expect(await lab.points(name), name).toMatchObject([{ value: { count } }]);
  await expect(agent.call("Look.", { sessionId: "s" })).rejects.toThrow(ModelError);
  const durations = await lab.points("gen_ai.client.operation.duration");
  expect(durations.map(({ attributes }) => attributes["error.type"])).toEqual([
    undefined,
    "rate_limit",
  ]);
});

/** As a program has it that depends on another release of the API. */
function anotherApi(): { trace: typeof trace; metrics: typeof metrics } {
  const load = createRequire(import.meta.url);
  const known = Object.keys(load.cache).filter((file) => /@opentelemetry.api.build/.test(file));
  const kept = known.map((file) => [file, load.cache[file]] as const);
  for (const file of known) delete load.cache[file];
  const api = load("@opentelemetry/api") as ReturnType<typeof anotherApi>;
  for (const [file, module] of kept) load.cache[file] = module;
  return api;
}

test("the README has every metric with its unit, and no other", () => {
  const units: Record<string, string> = {};
  const instrument = (name: string, { unit = "" }: { unit?: string } = {}) => {
    units[name] = unit;
    return { add: () => undefined, record: () => undefined };
  };
  const meter = {
    createHistogram: instrument,
    createCounter: instrument,
    createUpDownCounter: instrument,
  } as unknown as Meter;
  new InstrumentSource({ getMeter: () => meter }).get();
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const [, section = ""] = readme.split(/^## Metrics$/m);
  const [table = ""] = section.split(/^## /m);
  const rows = table.matchAll(/^\| `([\w.]+)` +\| (\S+)/gm);
  expect(Object.fromEntries([...rows].map(([, name, unit]) => [name, unit]))).toEqual(units);
});
