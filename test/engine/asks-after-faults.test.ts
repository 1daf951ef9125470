import {
  assistantMessage,
  InMemoryAgentStateStore,
  InProcessSessionGate,
  type ReActAgent,
  type ReActAgentOptions,
  suspend,
  type Tool,
  tool,
  toolResultsOf,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agentOn } from "./agent-on.js";
import { expectPaired, outline } from "./conversation.js";
import { door } from "./door.js";

const ctx = { sessionId: "s" };
const input = z.object({ n: z.number() });

/** Asks for these calls at first, and ends once one of them has a result. */
const modelFor = (...names: readonly string[]) =>
  scriptedModel(({ messages }) =>
    messages.some((message) => toolResultsOf(message).length > 0)
      ? "done"
      : { toolCalls: names.map((name, at) => ({ name, input: { n: at + 1 } })) },
  );

const idsOf = async (agent: ReActAgent) =>
  (await agent.pending(null, "s")).map(({ toolCallId }) => toolCallId);
const resultsIn = async (agent: ReActAgent) =>
  ((await agent.getAgentState(null, "s"))?.context ?? []).flatMap(toolResultsOf);
const textsIn = async (agent: ReActAgent) =>
  (await resultsIn(agent)).map(({ output }) =>
    output.map((part) => "text" in part && part.text).join(),
  );

describe.each([
  [true, "call"],
  [true, "step"],
  [false, "call"],
  [false, "step"],
] as const)("tool calls that wait, fused: %s, saved per %s", (fused, persistence) => {
  const newStore = () => new InMemoryAgentStateStore({ fused });
  const agentFor = (
    store: InMemoryAgentStateStore,
    tools: readonly Tool[],
    options: Partial<ReActAgentOptions> = {},
  ) => agentOn(store, { tools, persistence, gate: new InProcessSessionGate(), ...options });

  /** Two calls ask; the process that runs the first dies in it. */
  async function deadAnswer() {
    const store = newStore();
    const reached = door();
    let dies = true;
    const ran: number[] = [];
    const pay = tool({
      name: "pay",
      description: "Pays.",
      input,
      needsApproval: true,
      execute: ({ n }) => {
        ran.push(n);
        reached.open();
        return dies ? new Promise<never>(() => undefined) : `paid ${n}`;
      },
    });
    const options = { model: modelFor("pay", "pay") };
    const dying = agentFor(store, [pay], options);
    await dying.call("go", ctx);
    const [first = "", second = ""] = await idsOf(dying);
    const confirm = [{ toolCallId: first, approve: true }];
    dying.call({ confirm }, { ...ctx, callId: "answer" }).catch(() => undefined);
    await reached.opened;
    dies = false;
    return { agent: agentFor(store, [pay], options), ran, confirm, second };
  }

  test("stay answerable when the process that ran their neighbour died", async () => {
    const { agent, ran, second } = await deadAnswer();
    expect(await idsOf(agent)).toContain(second);
    const reply = await agent.call({ confirm: [{ toolCallId: second, approve: true }] }, ctx);
    expect(reply.text).toBe("done");
    expect(ran).toEqual([1, 2]);
    expect(await textsIn(agent)).toEqual([expect.stringMatching(/unknown/), "paid 2"]);
    expectPaired((await agent.getAgentState(null, "s"))?.context ?? []);
  });

  test("are what a repeated answer of a dead process ends with", async () => {
    const { agent, confirm, second } = await deadAnswer();
    const reply = await agent.call({ confirm }, { ...ctx, callId: "answer" });
    expect(reply).toMatchObject({ reason: "permission_asking", pending: [{ toolCallId: second }] });
    expect((await agent.sessions({ waiting: true })).slots).toHaveLength(1);
    await expect(agent.call("hello?", ctx)).rejects.toMatchObject({ code: "PENDING_CONFIRMATION" });
  });

  /** A step of one call that waits and one that outlasts a shutdown. */
  async function cut(waits: Tool) {
    const store = newStore();
    const reached = door();
    const slow = tool({
      name: "slow",
      description: "Takes its time.",
      input,
      execute: async (_input, { signal }) => {
        reached.open();
        await new Promise((resolve) => signal?.addEventListener("abort", resolve));
        return "ended";
      },
    });
    const options = { model: modelFor(waits.name, "slow") };
    const ending = agentFor(store, [waits, slow], options);
    const call = ending.call("go", { ...ctx, callId: "cut" });
    await reached.opened;
    await ending.shutdown({ timeoutMs: 20 });
    expect((await call).reason).toBe("shutdown");
    return agentFor(store, [waits, slow], options);
  }

  test("a suspended tool does not run again after a shutdown cut its neighbour", async () => {
    let runs = 0;
    const outside = tool({
      name: "outside",
      description: "Runs elsewhere.",
      input,
      execute: () => {
        runs++;
        return suspend("printing");
      },
    });
    const agent = await cut(outside);
    expect((await agent.resume(null, "s"))?.reason).toBe("tool_suspended");
    await expect(agent.call("hello?", ctx)).rejects.toMatchObject({ code: "PENDING_CONFIRMATION" });
    const [toolCallId = ""] = await idsOf(agent);
    expect((await agent.call({ results: [{ toolCallId, output: "printed" }] }, ctx)).text).toBe(
      "done",
    );
    expect(runs).toBe(1);
    expect((await textsIn(agent)).toSorted()).toEqual(["ended", "printed"]);
  });

  const asking = () =>
    tool({ name: "ask", description: "Asks.", input, needsApproval: true, execute: () => "ran" });

  test("an ask that a shutdown left is listed, and its call goes on to it", async () => {
    const agent = await cut(asking());
    expect((await agent.sessions({ waiting: true })).slots).toHaveLength(1);
    const reply = await agent.call("go", { ...ctx, callId: "cut" });
    expect(reply).toMatchObject({ reason: "permission_asking", pending: [{ name: "ask" }] });
  });

  test("an ask that a shutdown left is denied by a new message that says so", async () => {
    const agent = await cut(asking());
    expect((await agent.call("never mind", { ...ctx, onPending: "deny" })).text).toBe("done");
    expect((await resultsIn(agent)).map(({ state }) => state).toSorted()).toEqual([
      "denied",
      "success",
    ]);
  });

  test("another's unfinished call is not gone on with in front of them", async () => {
    const store = newStore();
    const failing = agentFor(store, [], {
      model: scriptedModel([{ error: new Error("down") }]),
      modelRetry: { attempts: 1 },
    });
    const named = { ...ctx, callId: "unfinished" };
    await expect(failing.call("first", named)).rejects.toThrow();
    const agent = agentFor(store, [asking()], { model: modelFor("ask") });
    await agent.call("second", ctx);
    const before = outline(await agent.getAgentState(null, "s"));
    await expect(agent.call("first", named)).rejects.toMatchObject({
      code: "PENDING_CONFIRMATION",
    });
    expect(outline(await agent.getAgentState(null, "s"))).toEqual(before);
    const [toolCallId = ""] = await idsOf(agent);
    expect((await agent.call({ confirm: [{ toolCallId, approve: true }] }, ctx)).text).toBe("done");
    expect((await agent.call("first", named)).reason).toBe("stop");
  });

  test("a message that a program adds behind them does not hide them", async () => {
    const agent = agentFor(newStore(), [asking()], { model: modelFor("ask") });
    await agent.call("go", ctx);
    await agent.updateAgentState(null, "s", (state) => {
      state.contextMutable().push(assistantMessage("a note"));
    });
    const [toolCallId = ""] = await idsOf(agent);
    expect((await agent.call({ confirm: [{ toolCallId, approve: true }] }, ctx)).text).toBe("done");
    expect(await textsIn(agent)).toEqual(["ran"]);
  });

  test("a person's input is gone with the call that was rolled back", async () => {
    const [reached, store] = [door(), newStore()];
    const pay = tool({
      name: "pay",
      description: "Pays.",
      input,
      needsApproval: true,
      execute: async (_input, { signal }) => {
        reached.open();
        await new Promise((resolve) => signal?.addEventListener("abort", resolve));
      },
    });
    const agent = agentOn(store, { tools: [pay], persistence, model: modelFor("pay") });
    await agent.call("go", ctx);
    const [toolCallId = ""] = await idsOf(agent);
    const confirm = [{ toolCallId, approve: true, input: { n: 99 } }];
    const answered = agent.call({ confirm }, ctx);
    await reached.opened;
    const next = agent.call("stop that", { ...ctx, onBusy: "rollback" });
    await expect(next).rejects.toMatchObject({ code: "PENDING_CONFIRMATION" });
    expect((await answered).reason).toBe("interrupted");
    expect(await agent.pending(null, "s")).toMatchObject([{ toolCallId, input: { n: 1 } }]);
  });

  test("a tool that ran and waits is not called one that did not run", async () => {
    const taxi = tool({
      name: "taxi",
      description: "Orders a taxi.",
      input,
      execute: () => suspend("the driver answers"),
    });
    const agent = agentFor(newStore(), [taxi, asking()], { model: modelFor("taxi", "ask") });
    await agent.call("go", ctx);
    await agent.call("never mind", { ...ctx, onPending: "deny" });
    expect((await textsIn(agent)).toSorted()).toEqual([
      "Not run: the user answered with a new message instead.",
      expect.stringMatching(/had begun .* outcome is unknown/),
    ]);
    expect(outline(await agent.getAgentState(null, "s")).at(-1)).toBe("assistant: done");
  });
});
