import {
  InMemoryAgentStateStore,
  InProcessSessionGate,
  listGuard,
  ModelError,
  type Plugin,
  type ReActAgentOptions,
  suspend,
  type ToolGuard,
} from "@holdfast/core";
import { eventually, scriptedModel } from "@holdfast/testing";
import { expect, onTestFinished, test } from "vitest";
import { BreakableGate } from "./breakable-gate.js";
import { deferred, TelemetryLab, toolNamed } from "./telemetry-lab.js";

const ctx = { sessionId: "s" };
const agentName = { "gen_ai.agent.name": "helper" };
const never = () => new Promise<never>(() => undefined);

/** Names of the events on the call's span, with their attributes. */
function moments(lab: TelemetryLab, at = 0): unknown[] {
  const calls = lab.spans.filter(({ name }) => name === "invoke_agent helper");
  return (calls.at(at)?.events ?? []).map(({ name, attributes }) => [name, attributes]);
}

function guarded(guard: ToolGuard): Partial<ReActAgentOptions> {
  return {
    plugins: [{ name: "guard", contract: 1, setup: (host) => host.provide("toolGuard", guard) }],
  };
}

/** Leaves the saves of a run whose process is gone: the next agent has a gate of its own. */
async function leaveDeadRun(lab: TelemetryLab, stateStore: InMemoryAgentStateStore): Promise<void> {
  const reached = deferred();
  const agent = lab.agent({
    model: scriptedModel([{ toolCalls: [{ name: "hang", input: {} }] }]),
    stateStore,
    gate: new InProcessSessionGate(),
    persistence: "step",
    tools: [
      toolNamed("hang", () => {
        reached.resolve();
        return never();
      }),
    ],
  });
  // Its process is gone as far as the others are concerned; the test ends it afterwards.
  onTestFinished(async () => void (await agent.shutdown({ timeoutMs: 0 })));
  agent.call("dying words", { ...ctx, callId: "dead" }).catch(() => undefined);
  await reached.promise;
}

/** A run that goes on also tells how it closed the tool call that its process died under. */
const resumedMoments = [
  ["holdfast.run_resumed", { "holdfast.resumed.reason": "error" }],
  ["holdfast.tool_result", { "holdfast.tool.state": "interrupted" }],
];

test("a run that died is counted as taken over, and as resumed by its own call", async () => {
  for (const [callId, resumes] of [
    ["other", false],
    ["dead", true],
  ] as const) {
    const lab = new TelemetryLab();
    const stateStore = new InMemoryAgentStateStore({ fused: false });
    await leaveDeadRun(lab, stateStore);
    const agent = lab.agent({
      model: scriptedModel(() => "ok"),
      stateStore,
      gate: new InProcessSessionGate(),
    });
    await agent.call("dying words", { ...ctx, callId });
    expect(await lab.points("holdfast.takeovers")).toMatchObject([
      { attributes: { ...agentName, "holdfast.takeover.rolled_back": false }, value: 1 },
    ]);
    const resumed = { attributes: { ...agentName, "holdfast.resumed.reason": "error" }, value: 1 };
    expect(await lab.points("holdfast.runs.resumed")).toMatchObject(resumes ? [resumed] : []);
    expect(moments(lab)).toEqual([
      ["holdfast.takeover", { "holdfast.takeover.rolled_back": false }],
      ...(resumes ? resumedMoments : []),
    ]);
  }
});

test("a takeover by work in the background is counted too", async () => {
  const lab = new TelemetryLab();
  const stateStore = new InMemoryAgentStateStore({ fused: false });
  await leaveDeadRun(lab, stateStore);
  const gate = new InProcessSessionGate();
  const agent = lab.agent({ model: scriptedModel([]), stateStore, gate });
  await agent.updateAgentState(ctx, () => undefined);
  expect(await lab.points("holdfast.takeovers")).toMatchObject([{ value: 1 }]);
});

test("attempts to continue the run of a dead node are counted by outcome", async () => {
  const lab = new TelemetryLab();
  const emitter: Plugin = {
    name: "emitter",
    contract: 1,
    setup: (host) =>
      host.use({
        name: "emitter",
        onCall({ slot }, next) {
          const failed = { type: "run_recovery_failed", attempt: 1, code: "CONFLICT" } as const;
          host.emit(slot, "c", {
            type: "run_recovered",
            attempt: 1,
            reason: "stop",
            durationMs: 1,
          });
          for (const gaveUp of [false, true]) host.emit(slot, "c", { ...failed, gaveUp });
          return next();
        },
      }),
  };
  const agent = lab.agent({ model: scriptedModel(() => "ok"), plugins: [emitter] });
  await agent.call("go", ctx);
  const points = await lab.points("holdfast.recoveries");
  expect(points.map(({ attributes }) => attributes["holdfast.recovery.outcome"]).sort()).toEqual([
    "failed",
    "given_up",
    "recovered",
  ]);
});

test("a lost lease is counted once", async () => {
  const lab = new TelemetryLab();
  const gate = new BreakableGate();
  const agent = lab.agent({
    model: scriptedModel([{ toolCalls: [{ name: "work", input: {} }] }]),
    gate,
    tools: [
      toolNamed("work", () => {
        gate.break();
        return never();
      }),
    ],
  });
  await expect(agent.call("Work.", ctx)).rejects.toMatchObject({ code: "LEASE_LOST" });
  expect(await lab.points("holdfast.leases.lost")).toMatchObject([
    { attributes: agentName, value: 1 },
  ]);
  expect(moments(lab)).toContainEqual(["holdfast.lease_lost", {}]);
});

test("calls that wait are counted, and those that leave the queue tell how long they waited", async () => {
  const lab = new TelemetryLab();
  const [reached, release] = [deferred(), deferred()];
  const agent = lab.agent({
    model: scriptedModel(async () => {
      reached.resolve();
      await release.promise;
      return "ok";
    }),
  });
  const first = agent.call("1", ctx);
  await reached.promise;
  const hasty = agent.call("2", { ...ctx, queueTimeoutMs: 1 });
  await expect(hasty).rejects.toMatchObject({ code: "SESSION_BUSY" });
  const patient = agent.stream("3", ctx);
  for await (const { type } of patient) if (type === "queue_wait") release.resolve();
  await Promise.all([first, patient.result]);
  expect(await lab.points("holdfast.queue_waits")).toMatchObject([
    { attributes: agentName, value: 2 },
  ]);
  expect(await lab.points("holdfast.queue_wait.duration")).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        attributes: { ...agentName, "error.type": "SESSION_BUSY" },
        value: expect.objectContaining({ count: 1 }),
      }),
      expect.objectContaining({
        attributes: agentName,
        value: expect.objectContaining({ count: 2 }),
      }),
    ]),
  );
});

test("tool calls that ask a person and those that wait for a result are counted apart", async () => {
  const lab = new TelemetryLab();
  const agent = lab.agent({
    model: scriptedModel([
      {
        toolCalls: [
          { name: "risky", input: {} },
          { name: "risky", input: { text: "again" } },
        ],
      },
      { toolCalls: [{ name: "later", input: {} }] },
    ]),
    tools: [toolNamed("risky", () => "done"), toolNamed("later", () => suspend())],
    ...guarded(listGuard({ ask: ["risky"] })),
  });
  const asked = await agent.call("Go.", ctx);
  if (asked.reason !== "permission_asking") throw new Error(asked.reason);
  const confirm = asked.pending.map(({ toolCallId }) => ({ toolCallId, approve: true }));
  expect((await agent.call({ confirm }, ctx)).reason).toBe("tool_suspended");
  expect(await lab.points("holdfast.asks")).toMatchObject([
    { attributes: { ...agentName, "holdfast.ask.kind": "permission" }, value: 2 },
    { attributes: { ...agentName, "holdfast.ask.kind": "result" }, value: 1 },
  ]);
  expect(moments(lab)).toContainEqual(["holdfast.permission_ask", { "holdfast.pending_calls": 2 }]);
  expect(moments(lab, 1)).toContainEqual([
    "holdfast.tool_suspended",
    { "holdfast.pending_calls": 1 },
  ]);
});

test("a model request that broke off after it had streamed is counted as discarded", async () => {
  const lab = new TelemetryLab();
  let requests = 0;
  const agent = lab.agent({
    model: {
      id: "m",
      async *stream() {
        yield { type: "text_delta", text: "Hel" };
        if (requests++ === 0) throw new ModelError("broke off", { retryable: true });
        yield { type: "text_delta", text: "lo" };
        yield { type: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: 1 } };
      },
    },
  });
  expect((await agent.call("Hi.", ctx)).text).toBe("Hello");
  expect(await lab.points("holdfast.attempts.discarded")).toMatchObject([
    { attributes: { ...agentName, "holdfast.discard.reason": "retry" }, value: 1 },
  ]);
  expect(moments(lab)).toContainEqual([
    "holdfast.attempt_discarded",
    { "holdfast.discard.reason": "retry", "holdfast.attempt": 1, "holdfast.chars": 3 },
  ]);
});

test("a store that went back is counted", async () => {
  const lab = new TelemetryLab();
  const stateStore = new InMemoryAgentStateStore();
  const agent = lab.agent({ model: scriptedModel(() => "ok"), stateStore });
  await agent.call("1", ctx);
  await agent.call("2", ctx);
  // Deleted and begun anew behind the agent's back: an older revision than it knows.
  await stateStore.delete({ agentId: "helper", userId: null, sessionId: "s" });
  await lab.agent({ model: scriptedModel(() => "ok"), stateStore }).call("other", ctx);
  await agent.call("3", ctx);
  expect(await lab.points("holdfast.store.rollbacks")).toMatchObject([
    { attributes: agentName, value: 1 },
  ]);
  await eventually(() => moments(lab, -1).length > 0);
  expect(moments(lab, -1)).toContainEqual(["holdfast.store_rolled_back", {}]);
});
