import {
  type AgentStateStore,
  assistantMessage,
  InMemoryAgentStateStore,
  InProcessSessionGate,
  type JsonObject,
  type Middleware,
  type ReActAgentOptions,
  tool,
  userMessage,
} from "@holdfast/core";
import { loadWhole } from "@holdfast/core/store-kit";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agentOn } from "./agent-on.js";
import {
  expectPaired,
  keptRuns,
  logged,
  logRecords,
  outcomes,
  outline,
  slotOf,
} from "./conversation.js";
import { door } from "./door.js";
import { modelOf, stallingModel } from "./models.js";
import { unfinishedTurn } from "./unfinished-turn.js";

const ctx = { sessionId: "s" };

describe.each([true, false])("a run that died, fused: %s", (fused) => {
  const newStore = () => new InMemoryAgentStateStore({ fused });
  /** Leaves the step saves of a run in the store whose holder is gone: the next agent has a gate of its own. */
  async function leaveDeadRun(
    store: AgentStateStore,
    options: Partial<ReActAgentOptions> = {},
    callId = "dead",
  ): Promise<void> {
    const { agent, reached } = unfinishedTurn(store, {
      persistence: "step",
      gate: new InProcessSessionGate(),
      ...options,
    });
    agent.call("dying words", { ...ctx, callId }).catch(() => undefined);
    await reached.opened;
    const state = await agent.getAgentState(null, "s");
    expect(keptRuns(state).unfinishedRun?.callId).toBe(callId);
    expect(Object.values(state?.openCalls ?? {})).toEqual(["started"]);
  }
  const storedIn = async (store: AgentStateStore) => {
    const stored = await loadWhole(store, slotOf());
    if (stored === null) throw new Error("nothing stored");
    return stored;
  };
  const successor = (store: AgentStateStore, options: Partial<ReActAgentOptions> = {}) =>
    agentOn(store, { gate: new InProcessSessionGate(), ...options });

  test("enqueue keeps its steps; the call that was running has an unknown outcome", async () => {
    const store = newStore();
    await successor(store).call("before", ctx);
    await leaveDeadRun(store);
    const model = scriptedModel(["on we go"]);
    const agent = successor(store, { model });
    await agent.call("next", ctx);
    const messages = model.requests[0]?.messages ?? [];
    expectPaired(messages);
    expect(outline(messages)).toEqual([
      "user: before",
      "assistant: ok",
      "user: dying words",
      "assistant: First + call edit",
      "tool: success edited",
      "assistant: Then + call hang",
      expect.stringMatching(/^tool: interrupted .*unknown/),
      "user: next",
    ]);
    const state = await agent.getAgentState(null, "s");
    expect(state?.openCalls).toEqual({});
    expect(keptRuns(state).unfinishedRun).toBeNull();
    expect(state?.planModeContext.active).toBe(true);
  });

  test("rollback takes its steps back; the log keeps them and says so", async () => {
    const store = newStore();
    await successor(store).call("before", ctx);
    await leaveDeadRun(store);
    const model = scriptedModel(["fresh"]);
    const agent = successor(store, { model });
    await agent.call("next", { ...ctx, callId: "next", onBusy: "rollback" });
    expect(outline(model.requests[0]?.messages)).toEqual([
      "user: before",
      "assistant: ok",
      "user: next",
    ]);
    const state = await agent.getAgentState(null, "s");
    expect(outline(state)).toEqual([
      "user: before",
      "assistant: ok",
      "user: next",
      "assistant: fresh",
    ]);
    expect(state?.planModeContext.active).toBe(false);
    expect(state?.tasksContext.tasks).toEqual([]);
    expect(keptRuns(state).unfinishedRun).toBeNull();
    const records = await logRecords(store, slotOf());
    const dead = records.filter(({ callId }) => callId === "dead");
    expect(outline(logged(dead))[0]).toBe("user: dying words");
    expect(outcomes(dead)).toEqual(["rolled_back"]);
    expect(outcomes(records.filter(({ callId }) => callId === "next"))).toEqual(["committed"]);
  });

  test("rollback takes back what its hooks pushed, up to the last step", async () => {
    const store = newStore();
    const pusher: Middleware = {
      name: "pusher",
      onReasoning: (step, next) => {
        step.state.contextMutable().push(userMessage(`pushed in step ${step.iteration}`));
        return next();
      },
    };
    await leaveDeadRun(store, { middleware: [pusher] });
    const agent = successor(store);
    await agent.call("next", { ...ctx, onBusy: "rollback" });
    expect(outline(await agent.getAgentState(null, "s"))).toEqual(["user: next", "assistant: ok"]);
  });

  test("a repeated callId with rollback takes the steps back and says the input again", async () => {
    const store = newStore();
    await leaveDeadRun(store);
    const model = scriptedModel(["fresh"]);
    const agent = successor(store, { model });
    await agent.call("dying words", { ...ctx, callId: "dead", onBusy: "rollback" });
    expect(outline(model.requests[0]?.messages)).toEqual(["user: dying words"]);
  });

  test("a repeated callId goes on from its steps without saying the input again", async () => {
    const store = newStore();
    await leaveDeadRun(store);
    const model = scriptedModel(["done after all"]);
    const agent = successor(store, { model });
    const reply = await agent.call("dying words", { ...ctx, callId: "dead" });
    expect(reply.text).toBe("done after all");
    const said = outline(model.requests[0]?.messages);
    expect(said.filter((line) => line === "user: dying words")).toHaveLength(1);
    expectPaired(model.requests[0]?.messages ?? []);
  });

  test("dying while it finishes another call's tools, it has not said its input: repeated, it does", async () => {
    const store = newStore();
    const outside = tool({
      name: "edit",
      description: "Left over by a shutdown.",
      input: z.object({}),
      execute: () => new Promise(() => reached.open()),
    });
    const reached = door();
    await successor(store).updateAgentState(null, "s", (state) => {
      state
        .contextMutable()
        .push(
          userMessage("go"),
          assistantMessage([{ type: "tool_call", id: "1", name: "edit", input: {} }]),
        );
      state.openCalls = { "1": "pending" };
      state.shutdownInterrupted = true;
    });
    const dying = successor(store, { persistence: "step", tools: [outside] });
    dying.call("not said yet", { ...ctx, callId: "dead" }).catch(() => undefined);
    await reached.opened;
    const model = scriptedModel(["fine"]);
    await successor(store, { model }).call("not said yet", { ...ctx, callId: "dead" });
    const messages = model.requests[0]?.messages ?? [];
    expectPaired(messages);
    expect(outline(messages)).toEqual([
      "user: go",
      "assistant: call edit",
      expect.stringMatching(/^tool: interrupted /),
      "user: not said yet",
    ]);
  });

  test("a call beside the running one that was answered without running leaves nothing open", async () => {
    const store = newStore();
    const script = [
      {
        toolCalls: [
          { name: "hang", input: {} },
          { name: "no_such_tool", input: {} },
        ],
      },
    ];
    const { agent: dying, reached } = unfinishedTurn(store, {
      persistence: "step",
      gate: new InProcessSessionGate(),
      model: scriptedModel(script),
    });
    dying.call("dying words", ctx).catch(() => undefined);
    await reached.opened;
    const model = scriptedModel(["on we go"]);
    await successor(store, { model }).call("next", ctx);
    expectPaired(model.requests[0]?.messages ?? []);
  });

  test("rolling back the call that repaired a dead run leaves a session that goes on", async () => {
    const store = newStore();
    await leaveDeadRun(store);
    const gate = new InProcessSessionGate();
    const reached = door();
    // The same agent, so that its cache is the one that is asked.
    const model = modelOf(async function* (request, index) {
      const play = index === 0 ? stallingModel("…", reached.open) : scriptedModel(["fine"]);
      yield* play.stream(request);
    });
    const agent = successor(store, { gate, model });
    const running = agent.call("taken back", ctx);
    await reached.opened;
    const reply = await agent.call("next", { ...ctx, onBusy: "rollback" });
    await running;
    expect(reply.text).toBe("fine");
    const state = await agent.getAgentState(null, "s");
    expect(outline(state)).not.toContain("user: taken back");
    expectPaired(state?.context ?? []);
  });

  test("its steps say what they changed in the head, which a release that knows only a whole head does not read", async () => {
    const store = newStore();
    await leaveDeadRun(store);
    const { head } = await storedIn(store);
    expect(head["unfinishedRun"]).not.toHaveProperty("before");
    expect(head["minReader"]).toBe(3);
    await successor(store).call("next", { ...ctx, onBusy: "rollback" });
    expect((await storedIn(store)).head["minReader"]).toBe(1);
  });

  test("its steps are taken back also where an earlier release has stored the whole head before it", async () => {
    const store = newStore();
    await agentOn(store).updateAgentState(null, "s", (state) => {
      state.extensions["mine"] = { version: 1, value: "kept" };
      state.extensions["other"] = { version: 1, value: "kept" };
    });
    const { head: before } = await storedIn(store);
    await leaveDeadRun(store);
    const { revision, head, messages } = await storedIn(store);
    const { undo: _, ...run } = head["unfinishedRun"] as JsonObject;
    const unchanged = { keep: messages.length, replace: [], append: [] };
    await store.save(slotOf(), {
      ...{ op: "earlier release", expected: revision, ...unchanged },
      head: { ...head, schemaVersion: 2, minReader: 1, unfinishedRun: { ...run, before } },
    });
    const reply = await successor(store).call("next", { ...ctx, onBusy: "rollback" });
    expect(reply.text).toBe("ok");
    const state = await agentOn(store).getAgentState(null, "s");
    expect(state?.extensions).toEqual(before["extensions"]);
    expect(state?.tasksContext.tasks).toEqual([]);
    expect(state?.planModeContext).toEqual({ active: false, planFile: null });
    expect(outline(state)).toEqual(["user: next", "assistant: ok"]);
  });

  test("what its steps changed and added in the head goes, and what they left stays", async () => {
    const store = newStore();
    await agentOn(store).updateAgentState(null, "s", (state) => {
      state.extensions["mine"] = { version: 1, value: "before" };
      state.extensions["other"] = { version: 1, value: "before" };
      state.permissionContext.mode = "explore";
      state.tasksContext.tasks = [{ content: "before", status: "pending" }];
    });
    const { head: before } = await storedIn(store);
    await leaveDeadRun(store);
    expect((await storedIn(store)).head["extensions"]).not.toEqual(before["extensions"]);
    await successor(store).call("next", { ...ctx, onBusy: "rollback" });
    const { head } = await storedIn(store);
    for (const section of ["extensions", "permissionContext", "tasksContext", "planModeContext"])
      expect(head[section], section).toEqual(before[section]);
  });

  test("dying again and again does not make the state grow", async () => {
    const store = newStore();
    const sizes: number[] = [];
    for (let death = 10; death < 30; death++) {
      await leaveDeadRun(store, {}, `dead-${death}`);
      const stored = await store.load(slotOf());
      if (!stored || stored === "unchanged") throw new Error("nothing stored");
      sizes.push(JSON.stringify(stored.head).length);
    }
    // The last 16 call ids are remembered; nothing else of the dead is.
    expect(sizes.at(-1)).toBe(sizes.at(-3));
  });
});
