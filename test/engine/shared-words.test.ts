import { randomUUID } from "node:crypto";
import {
  type AgentStateStore,
  type Compactor,
  type ConversationLog,
  definePlugin,
  InProcessSessionGate,
  type ReActAgentOptions,
  StateConflictError,
  tool,
  userMessage,
} from "@holdfast/core";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agentOn } from "./agent-on.js";
import { expectPaired, fates, keptInLog, outline, slotOf } from "./conversation.js";
import { type Door, door } from "./door.js";
import { FaultyStore } from "./faulty-store.js";
import { keptStores, newStore } from "./kept-stores.js";

const ctx = { sessionId: "s" };

/** An agent that the gate of the others does not keep out. */
function stranger(store: AgentStateStore, options: Partial<ReActAgentOptions> = {}) {
  return agentOn(store, { gate: new InProcessSessionGate(), ...options });
}

/** Tools that say when they run and wait until they are let go, or until their call is stopped. */
function waiting(): { readonly wait: ReturnType<typeof tool>; runs: Door<void>; go: Door<void> } {
  const [runs, go] = [door(), door()];
  const wait = tool({
    name: "wait",
    description: "Waits.",
    input: z.object({}),
    async execute(_, { signal }) {
      runs.open();
      const stopped = new Promise<void>((resolve) =>
        signal?.addEventListener("abort", () => resolve()),
      );
      await Promise.race([go.opened, stopped]);
      return "waited";
    },
  });
  return { wait, runs, go };
}

const toWait: ScriptedReply = { text: "one moment", toolCalls: [{ name: "wait", input: {} }] };

/** A process that died while a tool ran: its input is in the head of the state. */
async function die(store: AgentStateStore, input: string): Promise<void> {
  const { wait, runs } = waiting();
  const dying = stranger(store, { tools: [wait], model: scriptedModel([toWait]) });
  dying.call(input, ctx).catch(() => undefined);
  await runs.opened;
}

/** Leaves an input in the inbox, as a process that died right after it had got the lease. */
async function leave(store: FaultyStore, input: object): Promise<void> {
  const body = JSON.parse(JSON.stringify({ input }));
  const at = new Date().toISOString();
  const entry = { id: randomUUID(), kind: "input", callId: "dead", at, body } as const;
  await store.inner.inbox.put(slotOf(), entry);
}

async function stateOf(store: AgentStateStore): Promise<string[]> {
  return outline(await agentOn(store).getAgentState(null, "s"));
}

describe.each(keptStores)("on %s: words that two runs have taken in", (kind) => {
  test("stay shown when their own run is rolled back behind a save that has them", async () => {
    const store = await newStore(kind);
    const { wait, runs } = waiting();
    const conflictPolicy = "merge-append";
    const agent = agentOn(store, { tools: [wait], model: scriptedModel([toWait]), conflictPolicy });
    const running = agent.call("taken in", ctx);
    await runs.opened;
    await stranger(store, { model: scriptedModel(["between"]) }).call("stranger", ctx);
    await agentOn(store, { conflictPolicy }).call("again", { ...ctx, onBusy: "rollback" });
    expect((await running).reason).toBe("interrupted");
    const said = [
      ...["user: taken in", "user: stranger", "assistant: between"],
      ...["user: again", "assistant: ok"],
    ];
    expect(await stateOf(store)).toEqual(said);
    expect(await keptInLog(store, slotOf())).toEqual(said);
    expect(await fates(store, slotOf())).toContain("rolled_back assistant: one moment + call wait");
  });

  test("stay shown, those of a dead run too, when who found them is rolled back", async () => {
    const store = await newStore(kind);
    await die(store, "dead");
    const { wait, runs } = waiting();
    const conflictPolicy = "merge-append";
    const agent = agentOn(store, { tools: [wait], model: scriptedModel([toWait]), conflictPolicy });
    const running = agent.call("taken in", ctx);
    await runs.opened;
    await stranger(store, { model: scriptedModel(["between"]) }).call("stranger", ctx);
    await agentOn(store, { conflictPolicy }).call("again", { ...ctx, onBusy: "rollback" });
    await running;
    const said = await stateOf(store);
    expect(said.slice(0, 2)).toEqual(["user: dead", "user: taken in"]);
    expect(await keptInLog(store, slotOf())).toEqual(said);
  });

  test("are hidden when their own run is rolled back in place of the save that has them", async () => {
    const store = await newStore(kind);
    const { wait, runs } = waiting();
    const conflictPolicy = "overwrite";
    const agent = agentOn(store, { tools: [wait], model: scriptedModel([toWait]), conflictPolicy });
    const running = agent.call("taken in", ctx);
    await runs.opened;
    await stranger(store).call("stranger", ctx);
    await agentOn(store, { conflictPolicy }).call("again", { ...ctx, onBusy: "rollback" });
    await running;
    expect(await stateOf(store)).toEqual(["user: again", "assistant: ok"]);
    expect(await keptInLog(store, slotOf())).not.toContain("user: taken in");
  });

  test("are shown once when the run whose answer they are saves in place of the other", async () => {
    const store = await newStore(kind);
    const { wait, runs, go } = waiting();
    const tools = [wait, tool({ name: "outside", description: "Asks.", input: z.object({}) })];
    const model = scriptedModel([
      { toolCalls: [{ name: "outside", input: {} }] },
      toWait,
      "answered",
    ]);
    const agent = agentOn(store, { tools, model, conflictPolicy: "overwrite" });
    const asked = await agent.call("question", ctx);
    const toolCallId = asked.reason === "tool_suspended" ? asked.pending[0]?.toolCallId : undefined;
    const results = [{ toolCallId: String(toolCallId), output: "from outside" }];
    const running = agent.call({ results }, ctx);
    await runs.opened;
    await stranger(store).call("stranger", ctx);
    go.open();
    await running;
    const shown = await keptInLog(store, slotOf());
    expect(shown.filter((line) => line.includes("from outside"))).toHaveLength(1);
    expect(shown).toEqual(expect.arrayContaining(await stateOf(store)));
  });

  test("stand before what their own run said of them, though that run could not be saved", async () => {
    const store = await newStore(kind);
    const { wait, runs, go } = waiting();
    const tools = [wait, tool({ name: "outside", description: "Asks.", input: z.object({}) })];
    const model = scriptedModel([
      { toolCalls: [{ name: "outside", input: {} }] },
      toWait,
      "too late",
    ]);
    // What a compaction drops is written to the log at once.
    const dropFirst: Compactor = {
      proactive: true,
      async compact({ state, dropping }) {
        const messagesBefore = state.context.length;
        if (messagesBefore !== 3)
          return { compacted: false, messagesBefore, messagesAfter: messagesBefore };
        await dropping(state.context.slice(0, 1));
        state.contextMutable().replaceAll(state.context.slice(1));
        return { compacted: true, messagesBefore, messagesAfter: 2 };
      },
    };
    const shortening = definePlugin({
      name: "shortening",
      contract: 1,
      setup: (host) => host.provide("compactor", dropFirst),
    });
    const agent = agentOn(store, { tools, model, plugins: [shortening] });
    const asked = await agent.call("question", ctx);
    const toolCallId = asked.reason === "tool_suspended" ? asked.pending[0]?.toolCallId : undefined;
    const results = [{ toolCallId: String(toolCallId), output: "from outside" }];
    const running = agent.call({ results }, ctx).catch((error) => error);
    await runs.opened;
    await stranger(store).call("stranger", ctx);
    go.open();
    expect(StateConflictError.is(await running)).toBe(true);
    const said = await stateOf(store);
    expect(said).toContain("tool: success from outside");
    expect(await keptInLog(store, slotOf())).toEqual(said);
    const all = (await fates(store, slotOf())).map((line) => line.replace(/^\w+ /, ""));
    expect(all.filter((line) => line.includes("from outside"))).toHaveLength(1);
    expect(all.indexOf("tool: success from outside")).toBeLessThan(
      all.indexOf("assistant: one moment + call wait"),
    );
  });
});

describe.each([
  ["saved with the state", true],
  ["written before the state", false],
])("what a run found of others, with a log that is %s", (_, together) => {
  /** A store that puts inputs into the inbox with the lease, and what its agents are given besides. */
  function newSession() {
    const store = new FaultyStore({ fused: true });
    const log = store.companions().log;
    // Behind another object it is not the log that the store can save together with the state.
    const apart: ConversationLog = Object.assign(Object.create(log), { reach: "distributed" });
    return { store, options: together ? {} : { log: apart } };
  }

  test("is not believed of a dead run when it is merged behind a save that knew better", async () => {
    const { store, options } = newSession();
    await leave(store, { kind: "messages", messages: [userMessage("dead")], foreignIds: false });
    const { wait, runs, go } = waiting();
    const agent = agentOn(store, {
      ...options,
      tools: [wait],
      model: scriptedModel([toWait, "done"]),
      conflictPolicy: "merge-append",
    });
    const running = agent.call("takes back", { ...ctx, onBusy: "rollback" });
    await runs.opened;
    await stranger(store, options).call("stranger", ctx);
    go.open();
    await running;
    const said = await stateOf(store);
    expect(said).toContain("user: dead");
    expect(await fates(store, slotOf())).toContain("error user: dead");
  });

  test("is believed of a run that was rolled back, when it is saved in place of that", async () => {
    const { store, options } = newSession();
    const live = waiting();
    const gate = new InProcessSessionGate();
    const tools = [live.wait];
    const model = scriptedModel([toWait, "again"]);
    const past = agentOn(store, { ...options, gate, tools, model });
    const rolledBack = past.call("taken in", ctx);
    await live.runs.opened;
    const { wait, runs, go } = waiting();
    const agent = agentOn(store, {
      ...options,
      tools: [wait],
      model: scriptedModel([toWait, "done"]),
      conflictPolicy: "overwrite",
    });
    const running = agent.call("takes in", ctx);
    await runs.opened;
    await past.call("again", { ...ctx, onBusy: "rollback" });
    expect((await rolledBack).reason).toBe("interrupted");
    expect(await fates(store, slotOf())).toContain("rolled_back user: taken in");
    go.open();
    await running;
    expect((await stateOf(store))[0]).toBe("user: taken in");
    expect(await fates(store, slotOf())).toContain("error user: taken in");
  });

  test("waits for the next call when it is merged behind a save that has not taken it in", async () => {
    const { store, options } = newSession();
    const slow = waiting();
    const first = stranger(store, {
      ...options,
      tools: [slow.wait],
      model: scriptedModel([toWait, "slow"]),
    }).call("before all", ctx);
    await slow.runs.opened;
    await leave(store, { kind: "messages", messages: [userMessage("dead")], foreignIds: false });
    const { wait, runs, go } = waiting();
    const agent = agentOn(store, {
      ...options,
      tools: [wait],
      model: scriptedModel([toWait, "done", "next"]),
      conflictPolicy: "merge-append",
    });
    const running = agent.call("finds both", ctx);
    await runs.opened;
    slow.go.open();
    await first;
    go.open();
    await running;
    await agent.call("next", ctx);
    const said = await stateOf(store);
    expect(said.filter((line) => line === "user: dead")).toHaveLength(1);
    expect((await keptInLog(store, slotOf())).toSorted()).toEqual(said.toSorted());
  });

  test("stays when it is the question that it answers, though nobody else has taken it in", async () => {
    const { store, options } = newSession();
    const slow = waiting();
    const first = stranger(store, {
      ...options,
      tools: [slow.wait],
      model: scriptedModel([toWait, "slow"]),
    }).call("before all", ctx);
    await slow.runs.opened;
    await leave(store, { kind: "messages", messages: [userMessage("dead")], foreignIds: false });
    const { wait, runs, go } = waiting();
    const agent = agentOn(store, {
      ...options,
      tools: [wait],
      model: scriptedModel([toWait, "answer", "next"]),
      conflictPolicy: "merge-append",
    });
    const running = agent.resume(null, "s");
    await runs.opened;
    slow.go.open();
    await first;
    go.open();
    expect((await running)?.text).toBe("answer");
    const answered = ["user: dead", "assistant: one moment + call wait"];
    expect(await stateOf(store)).toEqual(expect.arrayContaining(answered));
    await agent.call("next", ctx);
    const said = await stateOf(store);
    const at = said.indexOf("user: dead");
    expect(said.slice(at, at + 2)).toEqual(answered);
    expect(said.filter((line) => line === "user: dead")).toHaveLength(1);
    expect((await keptInLog(store, slotOf())).toSorted()).toEqual(said.toSorted());
  });

  test("stays when it is the answer of a dead run, and the run that found it is rolled back", async () => {
    const { store, options } = newSession();
    const outside = tool({ name: "outside", description: "Asks.", input: z.object({}) });
    const asking = agentOn(store, {
      ...options,
      tools: [outside],
      model: scriptedModel([{ toolCalls: [{ name: "outside", input: {} }] }]),
    });
    const asked = await asking.call("question", ctx);
    const toolCallId = asked.reason === "tool_suspended" ? asked.pending[0]?.toolCallId : undefined;
    const results = [{ toolCallId: String(toolCallId), output: "from outside" }];
    await leave(store, { kind: "results", results });
    const { wait, runs } = waiting();
    const agent = agentOn(store, {
      ...options,
      tools: [wait, outside],
      model: scriptedModel([toWait, "fine"]),
    });
    const running = agent.call("taken back", ctx);
    await runs.opened;
    await agent.call("again", { ...ctx, onBusy: "rollback" });
    await running;
    const said = await stateOf(store);
    expect(said).toContain("tool: success from outside");
    expect(said).not.toContain("user: taken back");
    expectPaired((await agent.getAgentState(null, "s"))?.context ?? []);
    expect(await keptInLog(store, slotOf())).toEqual(said);
  });
});

test("an answer that is refused because another process has saved has an end in the log", async () => {
  const store = new FaultyStore({ fused: false });
  const outside = tool({ name: "outside", description: "Asks.", input: z.object({}) });
  const agent = agentOn(store, {
    tools: [outside],
    model: scriptedModel([{ toolCalls: [{ name: "outside", input: {} }] }]),
  });
  const asked = await agent.call("question", ctx);
  const toolCallId = asked.reason === "tool_suspended" ? asked.pending[0]?.toolCallId : undefined;
  // Between its log and its first save another process gives up on the tool call.
  store.next("save", async (run) => {
    await stranger(store).interrupt(null, "s");
    return run();
  });
  const results = [{ toolCallId: String(toolCallId), output: "too late" }];
  await expect(agent.call({ results }, ctx)).rejects.toThrow("does not wait for a result");
  expect(await fates(store, slotOf())).toContain("conflict tool: success too late");
  expect(await keptInLog(store, slotOf())).toEqual(await stateOf(store));
});
