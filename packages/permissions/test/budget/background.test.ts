import {
  AgentState,
  InMemoryAgentStateStore,
  type ModelChunk,
  RuntimeContext,
  type Slot,
} from "@holdfast/core";
import { fakePluginHost, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { BudgetExceededError, budget } from "../../src/index.js";
import { alice, usage } from "./budgeted-agent.js";

describe("work in the background", () => {
  const slot: Slot = { agentId: "agent", ...alice };
  const ask = async (
    host: ReturnType<typeof fakePluginHost>,
    at: Slot,
    purpose = "memory_flush",
  ) => {
    const ctx = RuntimeContext.of({ ...at, callId: "flush" });
    const model = scriptedModel(() => ({ usage, text: "Facts." }));
    const request = { system: "", messages: [], tools: [], signal: new AbortController().signal };
    const chunks: ModelChunk[] = [];
    const { emit, signal } = host.step({ slot: at });
    const question = { requestId: "r", purpose, model, request, state: null, runId: null };
    const stream = host.run(
      "onModelCall",
      { slot: at, ctx, emit, signal, mark: null, ...question },
      () => model.stream(request),
    );
    for await (const chunk of stream) chunks.push(chunk);
    return chunks;
  };

  test("is refused once the calls of its session have used it up", async () => {
    const stateStore = new InMemoryAgentStateStore();
    const host = fakePluginHost({ ports: { stateStore } });
    host.install(budget({ perSession: { tokens: 30 } }));
    const state = AgentState.create(alice);
    const counted = { tokens: 20, money: 0, warned: [] };
    state.extensions["budget"] = { version: 1, value: { session: counted, call: null } };
    const delta = { keep: 0, replace: [], append: [] };
    await stateStore.save(slot, { op: "1", expected: null, head: state.head(), ...delta });
    await ask(host, slot);
    const refused = await ask(host, slot).catch((error: unknown) => error);
    expect(BudgetExceededError.is(refused) && refused.use).toEqual({
      ...{ scope: "session", unit: "tokens", used: 31, limit: 30 },
    });
    expect(host.events).toMatchObject([{ type: "budget_exceeded", purpose: "memory_flush" }]);
    await host.deleteSession(slot);
    await ask(host, slot);
  });

  test("on a memory belongs to no session, even to one of the same name", async () => {
    const host = fakePluginHost().install(budget({ perSession: { tokens: 11 } }));
    const memory = { ...slot, agentId: "holdfast.memory" };
    for (let turn = 0; turn < 2; turn++) await ask(host, memory, "consolidation");
    await ask(host, slot);
    await expect(ask(host, slot)).rejects.toThrow(BudgetExceededError);
    await ask(host, memory, "consolidation");
  });

  test("counts for the call's session, and for its user", async () => {
    const host = fakePluginHost().install(
      budget({ perSession: { tokens: 50 }, perUser: { tokens: 20 } }),
    );
    await ask(host, slot);
    await ask(host, { ...slot, agentId: "holdfast.memory", sessionId: "memory" }, "consolidation");
    await expect(ask(host, { ...slot, sessionId: "other" })).rejects.toMatchObject({
      code: "BUDGET_EXCEEDED",
      use: { scope: "user", used: 22 },
    });
    expect(host.events.map(({ type }) => type)).toEqual(["budget_warning", "budget_exceeded"]);
  });
});
