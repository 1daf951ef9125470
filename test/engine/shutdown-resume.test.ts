import { type AgentStateStore, InMemoryAgentStateStore, tool } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agentOn } from "./agent-on.js";
import { expectPaired, logRecords, outcomes, outline, slotOf } from "./conversation.js";
import { counting, twoCalls } from "./counting-tools.js";
import { door } from "./door.js";
import { FaultyStore } from "./faulty-store.js";

const ctx = { sessionId: "s" };
const none = z.object({});

describe.each([true, false])("a session cut short by a shutdown, fused: %s", (fused) => {
  const newStore = () => new InMemoryAgentStateStore({ fused });
  /** Shuts an agent down while its model is about to answer with two tool calls. */
  async function cutBeforeTools(store: AgentStateStore, callId?: string) {
    const [reached, release] = [door(), door()];
    const { tools, ran } = counting();
    const agent = agentOn(store, {
      tools,
      model: scriptedModel(async () => {
        reached.open();
        await release.opened;
        return twoCalls;
      }),
    });
    const running = agent.call("do both", { ...ctx, callId });
    await reached.opened;
    const shutdown = agent.shutdown();
    release.open();
    const [reply, report] = await Promise.all([running, shutdown]);
    expect(reply.reason).toBe("shutdown");
    expect(report).toEqual({ calls: 1, cut: 0 });
    expect(ran).toEqual([]);
  }

  test("after a reply with tool calls: the calls are left pending, and nothing of them ran", async () => {
    const store = newStore();
    await cutBeforeTools(store);
    const state = await agentOn(store).getAgentState(null, "s");
    expect(state?.shutdownInterrupted).toBe(true);
    expect(Object.values(state?.openCalls ?? {})).toEqual(["pending", "pending"]);
    expect(outline(state)).toEqual(["user: do both", "assistant: call one + call two"]);
    expect(outcomes(await logRecords(store, slotOf()))).toEqual(["interrupted"]);
  });

  test("the next call, on another agent, runs the calls that were not started, once, and then its own input", async () => {
    const store = newStore();
    await cutBeforeTools(store);
    const { tools, ran } = counting();
    const model = scriptedModel(["both done", "later"]);
    const agent = agentOn(store, { tools, model });
    const reply = await agent.call("and this", ctx);
    expect(reply).toMatchObject({ reason: "stop", text: "both done" });
    expect(ran.sort()).toEqual(["one", "two"]);
    expectPaired(model.requests[0]?.messages ?? []);
    expect(outline(model.requests[0]?.messages)).toEqual([
      "user: do both",
      "assistant: call one + call two",
      "tool: success one done + success two done",
      "user: and this",
    ]);
    const state = await agent.getAgentState(null, "s");
    expect(state?.shutdownInterrupted).toBe(false);
    expect(state?.openCalls).toEqual({});
    await agent.call("later", ctx);
    expect(ran).toHaveLength(2);
  });

  test("empty input resumes and adds nothing", async () => {
    const store = newStore();
    await cutBeforeTools(store);
    const { tools, ran } = counting();
    const model = scriptedModel(["both done"]);
    const reply = await agentOn(store, { tools, model }).call([], ctx);
    expect(reply.text).toBe("both done");
    expect(ran).toHaveLength(2);
    expect(outline(model.requests[0]?.messages)).toEqual([
      "user: do both",
      "assistant: call one + call two",
      "tool: success one done + success two done",
    ]);
  });

  test("the same callId again resumes without saying the input twice, and is then answered from memory", async () => {
    const store = newStore();
    await cutBeforeTools(store, "id-1");
    const { tools, ran } = counting();
    const model = scriptedModel(["both done"]);
    const agent = agentOn(store, { tools, model });
    const reply = await agent.call("do both", { ...ctx, callId: "id-1" });
    expect(reply).toMatchObject({ reason: "stop", text: "both done", callId: "id-1" });
    expect(ran).toHaveLength(2);
    const again = await agent.call("do both", { ...ctx, callId: "id-1" });
    expect(again.text).toBe("both done");
    expect(model.requests).toHaveLength(1);
    const said = outline(await agent.getAgentState(null, "s"));
    expect(said.filter((line) => line === "user: do both")).toHaveLength(1);
  });

  test("the same callId again, after another call ran its tools: it goes on with their results", async () => {
    const store = newStore();
    await cutBeforeTools(store, "id-1");
    const { tools, ran } = counting();
    const model = scriptedModel(["another", "both done"]);
    const agent = agentOn(store, { tools, model });
    await agent.call("and this", ctx);
    const reply = await agent.call("do both", { ...ctx, callId: "id-1" });
    expect(reply.text).toBe("both done");
    expect(ran).toHaveLength(2);
    const all = [
      "user: and this",
      "assistant: another",
      "user: do both",
      "assistant: call one + call two",
      "tool: success one done + success two done",
    ];
    expect(outline(model.requests[1]?.messages)).toEqual(all);
    const state = await agent.getAgentState(null, "s");
    expect(outline(state)).toEqual([...all, "assistant: both done"]);
    // What the log shows is what the state has.
    const shown = new Set((await logRecords(store, slotOf())).map(({ message }) => message?.id));
    expect(state?.context.filter(({ id }) => !shown.has(id))).toEqual([]);
  });

  test("while tools run: they finish, their results are kept, and the next call goes on from there", async () => {
    const store = newStore();
    const [reached, release] = [door(), door()];
    const slow = tool({
      name: "slow",
      description: "Takes its time.",
      input: none,
      execute: async () => {
        reached.open();
        await release.opened;
        return "kept";
      },
    });
    const script = [{ toolCalls: [{ name: "slow", input: {} }] }, "never"];
    const first = scriptedModel(script);
    const agent = agentOn(store, { model: first, tools: [slow] });
    const running = agent.call("go", ctx);
    await reached.opened;
    const shutdown = agent.shutdown();
    release.open();
    expect((await running).reason).toBe("shutdown");
    await shutdown;
    expect(first.requests).toHaveLength(1);
    const state = await agent.getAgentState(null, "s");
    expect(state?.shutdownInterrupted).toBe(true);
    expect(state?.openCalls).toEqual({});
    const model = scriptedModel(["goes on"]);
    await agentOn(store, { model, tools: [slow] }).call("next", ctx);
    expect(outline(model.requests[0]?.messages)).toEqual([
      "user: go",
      "assistant: call slow",
      "tool: success kept",
      "user: next",
    ]);
  });

  test("before the first step: the input is kept, never dropped", async () => {
    const store = new FaultyStore({ fused });
    const [acquiring, release] = [door(), door()];
    store.next("acquire", async (run) => {
      const lease = await run();
      acquiring.open();
      await release.opened;
      return lease;
    });
    const agent = agentOn(store);
    const running = agent.call("early", ctx);
    await acquiring.opened;
    const shutdown = agent.shutdown();
    release.open();
    expect((await running).reason).toBe("shutdown");
    await shutdown;
    const model = scriptedModel(["answered"]);
    await agentOn(store, { model }).call([], ctx);
    expect(outline(model.requests[0]?.messages)).toEqual(["user: early"]);
  });
});
