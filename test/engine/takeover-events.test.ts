import {
  type AgentEvent,
  type AgentStateStore,
  InMemoryAgentStateStore,
  InProcessSessionGate,
  suspend,
  tool,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agentOn } from "./agent-on.js";
import { outline, slotOf } from "./conversation.js";
import { FaultyStore, unavailable } from "./faulty-store.js";
import { unfinishedTurn } from "./unfinished-turn.js";

const ctx = { sessionId: "s" };

/** An agent with a gate of its own, as a process has one that comes after another has died, and its events by type. */
function successor(store: AgentStateStore) {
  const events: AgentEvent[] = [];
  const agent = agentOn(store, {
    gate: new InProcessSessionGate(),
    onEvent: (event) => events.push(event),
  });
  const of = (...types: AgentEvent["type"][]) => events.filter(({ type }) => types.includes(type));
  return { agent, of };
}

describe.each([true, false])("what a call finds of a run that died, fused: %s", (fused) => {
  async function leaveDeadRun(store: AgentStateStore): Promise<void> {
    const { agent, reached } = unfinishedTurn(store, {
      persistence: "step",
      gate: new InProcessSessionGate(),
    });
    agent.call("dying words", { ...ctx, callId: "dead" }).catch(() => undefined);
    await reached.opened;
  }

  test("is a takeover by the next call, and nothing is resumed", async () => {
    const store = new InMemoryAgentStateStore({ fused });
    await leaveDeadRun(store);
    const { agent, of } = successor(store);
    await agent.call("next", { ...ctx, callId: "next" });
    await agent.call("after", ctx);
    expect(of("takeover", "run_resumed")).toMatchObject([
      {
        type: "takeover",
        callId: "next",
        lostCallId: "dead",
        lostRunId: expect.any(String),
        rolledBack: false,
      },
    ]);
  });

  test("is a takeover that takes back with onBusy rollback", async () => {
    const store = new InMemoryAgentStateStore({ fused });
    await leaveDeadRun(store);
    const { agent, of } = successor(store);
    await agent.call("next", { ...ctx, onBusy: "rollback" });
    expect(of("takeover")).toMatchObject([{ lostCallId: "dead", rolledBack: true }]);
  });

  test("is a takeover and a resumed run when the same call is repeated, or resumed", async () => {
    for (const how of ["repeat", "resume"] as const) {
      const store = new InMemoryAgentStateStore({ fused });
      await leaveDeadRun(store);
      const { agent, of } = successor(store);
      if (how === "repeat") await agent.call("dying words", { ...ctx, callId: "dead" });
      else await agent.resume(null, "s");
      const [takeover, resumed, ...more] = of("takeover", "run_resumed");
      expect(takeover).toMatchObject({ type: "takeover", lostCallId: "dead" });
      expect(resumed).toMatchObject({
        type: "run_resumed",
        resumedRunId: takeover?.type === "takeover" ? takeover.lostRunId : "",
        reason: "error",
      });
      expect(more).toEqual([]);
    }
  });

  test("is told as results of its open tool calls, behind the messages that it had saved", async () => {
    const store = new InMemoryAgentStateStore({ fused });
    await leaveDeadRun(store);
    const saved = await store.load(slotOf());
    const { agent, of } = successor(store);
    await agent.resume(null, "s");
    const [resumed, closed, ...more] = of("run_resumed", "tool_result");
    const messages =
      typeof saved === "object" && saved && "messages" in saved ? saved.messages : [];
    expect(resumed).toMatchObject({ messageIds: messages.map(({ id }) => id) });
    expect(closed).toMatchObject({ type: "tool_result", name: "hang", state: "interrupted" });
    expect(more).toEqual([]);
    const state = await agent.getAgentState(null, "s");
    expect(outline(state)).toContain(
      "tool: interrupted This call was interrupted; if it had started, its outcome is unknown.",
    );
  });

  test("is a takeover in the background when a session is edited", async () => {
    const store = new InMemoryAgentStateStore({ fused });
    await leaveDeadRun(store);
    const { agent, of } = successor(store);
    await agent.updateAgentState(null, "s", () => undefined);
    expect(of("takeover")).toMatchObject([{ background: true, lostCallId: "dead" }]);
  });

  test("is a takeover of words in the inbox when its save failed", async () => {
    const store = new FaultyStore({ fused });
    store.next("save", ...(fused ? [] : [undefined]), unavailable);
    const failing = agentOn(store, { saveDeadlineMs: 1 });
    await expect(failing.call("words", { ...ctx, callId: "dead" })).rejects.toThrow("away");
    const events: AgentEvent[] = [];
    const agent = agentOn(store, { onEvent: (event) => events.push(event) });
    await agent.call("next", ctx);
    expect(events.filter(({ type }) => type === "takeover")).toMatchObject([
      { lostCallId: "dead", rolledBack: false },
    ]);
  });

  test("is nothing where every run has ended", async () => {
    const store = new InMemoryAgentStateStore({ fused });
    const { agent, of } = successor(store);
    await agent.call("one", { ...ctx, callId: "c" });
    await agent.call("one", { ...ctx, callId: "c" });
    await agent.call("two", ctx);
    expect(of("takeover", "run_resumed")).toEqual([]);
  });
});

test("a call that was cut by a shutdown is resumed with that reason", async () => {
  const store = new InMemoryAgentStateStore();
  const { agent: cut, reached } = unfinishedTurn(store);
  const running = cut.call("go", { ...ctx, callId: "cut" });
  await reached.opened;
  await cut.shutdown({ timeoutMs: 1 });
  expect((await running).reason).toBe("shutdown");
  const { agent, of } = successor(store);
  await agent.resume(null, "s");
  expect(of("takeover", "run_resumed")).toMatchObject([
    { type: "run_resumed", reason: "shutdown" },
  ]);
});

test("tool calls that wait for results from outside are said to", async () => {
  const events: AgentEvent[] = [];
  const agent = agentOn(new InMemoryAgentStateStore(), {
    model: scriptedModel([{ toolCalls: [{ name: "later", input: {} }] }, "done"]),
    tools: [
      tool({
        name: "later",
        description: "Its answer comes later.",
        input: z.object({}),
        execute: () => suspend("printing"),
      }),
    ],
    onEvent: (event) => events.push(event),
  });
  const reply = await agent.call("go", ctx);
  expect(reply.reason).toBe("tool_suspended");
  expect(events.filter(({ type }) => type === "tool_suspended")).toMatchObject([
    { pending: [{ name: "later", state: "suspended", reason: "printing" }] },
  ]);
});
