import {
  type AgentEvent,
  type AgentState,
  assistantMessage,
  InMemoryAgentStateStore,
  listGuard,
  type Message,
  PendingConfirmationError,
  ReActAgent,
  type ReActAgentOptions,
  type StateEdit,
  tool,
  toolResultMessage,
  userMessage,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { expectPaired, logged, logRecords, outline, slotOf } from "./conversation.js";

const ctx = { sessionId: "s" };
const call = (id: string, name = "work") => ({ type: "tool_call" as const, id, name, input: {} });
const result = (toolCallId: string) =>
  toolResultMessage({
    type: "tool_result",
    toolCallId,
    name: "work",
    output: [{ type: "text", text: `result of ${toolCallId}` }],
    state: "success",
  });

describe.each([true, false])("what a crash left, fused: %s", (fused) => {
  const agentOn = (stateStore: InMemoryAgentStateStore, options: Partial<ReActAgentOptions> = {}) =>
    new ReActAgent({ name: "a", model: scriptedModel(() => "ok"), stateStore, ...options });

  /** A store that holds exactly these messages and open calls. */
  async function leave(
    messages: readonly Message[],
    openCalls: AgentState["openCalls"] = {},
  ): Promise<InMemoryAgentStateStore> {
    const store = new InMemoryAgentStateStore({ fused });
    const edit: StateEdit = (state) => {
      state.contextMutable().push(...messages);
      state.openCalls = openCalls;
    };
    await agentOn(store).updateAgentState(null, "s", edit);
    return store;
  }

  test("an open call that is not listed is repaired, with an event, and the session goes on", async () => {
    const store = await leave([
      userMessage("go"),
      assistantMessage([call("1"), call("2")]),
      result("1"),
    ]);
    const events: AgentEvent[] = [];
    const model = scriptedModel(["on"]);
    const agent = agentOn(store, { model, onEvent: (event) => events.push(event) });
    await agent.call("next", ctx);
    expect(events.filter(({ type }) => type === "repaired")).toMatchObject([
      { repairs: [{ kind: "missing_result", toolCallId: "2" }] },
    ]);
    expectPaired(model.requests[0]?.messages ?? []);
    const state = await agent.getAgentState(null, "s");
    expectPaired(state?.context ?? []);
    // What was repaired is saved: the next call has nothing to repair.
    const again: AgentEvent[] = [];
    await agentOn(store, { onEvent: (event) => again.push(event) }).call("next", ctx);
    expect(again.map(({ type }) => type)).not.toContain("repaired");
  });

  test.each([
    ["an orphan result", [userMessage("go"), result("9")]],
    [
      "a result that comes late",
      [assistantMessage([call("1")]), userMessage("meanwhile"), result("1")],
    ],
    ["two results of one call", [assistantMessage([call("1")]), result("1"), result("1")]],
    [
      "an old call left open",
      [assistantMessage([call("1")]), userMessage("and?"), assistantMessage("well")],
    ],
  ])("%s is repaired, so that the next request is valid", async (_, messages) => {
    const store = await leave(messages);
    const model = scriptedModel(["on"]);
    await agentOn(store, { model }).call("next", ctx);
    expectPaired(model.requests[0]?.messages ?? []);
  });

  test.each(["asking", "pending"] as const)(
    "a listed call stays open while it is %s: plain input is told to answer first",
    async (openState) => {
      const store = await leave([userMessage("go"), assistantMessage([call("1")])], {
        "1": openState,
      });
      const events: AgentEvent[] = [];
      let ran = 0;
      const work = tool({
        name: "work",
        description: "Works.",
        input: z.object({}),
        execute: () => ++ran,
      });
      const model = scriptedModel(["on"]);
      const agent = agentOn(store, {
        model,
        tools: [work],
        plugins: [
          {
            name: "guard",
            contract: 1,
            setup: (host) => host.provide("toolGuard", listGuard({ ask: ["work"] })),
          },
        ],
        onEvent: (event) => events.push(event),
      });
      const before = await store.load(slotOf());
      await expect(agent.call("plain", ctx)).rejects.toSatisfy(PendingConfirmationError.is);
      expect(events.map(({ type }) => type)).not.toContain("repaired");
      expect(await store.load(slotOf())).toEqual(before);
      const answer =
        openState === "asking"
          ? { confirm: [{ toolCallId: "1", approve: true }] }
          : { results: [{ toolCallId: "1", output: "from outside" }] };
      expect((await agent.call(answer, ctx)).text).toBe("on");
      expect(ran).toBe(openState === "asking" ? 1 : 0);
      expectPaired(model.requests[0]?.messages ?? []);
    },
  );

  test("interrupting a session that waits for an answer closes its calls", async () => {
    const store = await leave([userMessage("go"), assistantMessage([call("1")])], {
      "1": "asking",
    });
    const agent = agentOn(store);
    expect(await agent.interrupt(null, "s", "Never mind.")).toBe("closed_asks");
    const state = await agent.getAgentState(null, "s");
    expect(outline(state)).toEqual([
      "user: go",
      "assistant: call work",
      expect.stringMatching(/^tool: interrupted /),
      "user: Never mind.",
    ]);
    expect(state?.openCalls).toEqual({});
    expect((await agent.call("next", ctx)).text).toBe("ok");
  });

  test("a call that was running becomes an interrupted result saying that its outcome is unknown", async () => {
    const store = await leave([userMessage("go"), assistantMessage([call("1")])], {
      "1": "started",
    });
    const model = scriptedModel(["on"]);
    await agentOn(store, { model }).call("next", ctx);
    expect(outline(model.requests[0]?.messages)[2]).toMatch(/^tool: interrupted .*unknown/);
    const log = outline(logged(await logRecords(store, slotOf())));
    expect(log.filter((line) => line.startsWith("tool: interrupted"))).toHaveLength(1);
  });
});
