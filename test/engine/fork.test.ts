import {
  type AgentEvent,
  AgentState,
  type AgentStateStore,
  definePlugin,
  InMemoryAgentStateStore,
  InProcessSessionGate,
  InvalidInputError,
  keepLastCompactor,
  LeaseLostError,
  listGuard,
  ReActAgent,
  type ReActAgentOptions,
  type SessionGate,
  StateConflictError,
  tool,
  userMessage,
} from "@holdfast/core";
import type { Lease } from "@holdfast/core/store-kit";
import { HarnessAgent } from "@holdfast/harness";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { fileSubject, memorySubject, partsOf } from "../encryption/subjects.js";
import { agentOn } from "./agent-on.js";
import { logRecords, outline, saidIn, slotOf } from "./conversation.js";
import { door } from "./door.js";
import {
  type CommandName,
  type Fault,
  FaultyStore,
  lostAnswer,
  unavailable,
} from "./faulty-store.js";
import { keptStores, newStore } from "./kept-stores.js";

const ada = { userId: "ada", sessionId: "one" };

/** Texts of the log of a session of Ada's. */
function said(store: AgentStateStore, sessionId: string): Promise<string[]> {
  return saidIn({ log: partsOf(store).log, stateStore: store }, slotOf(sessionId, "ada"));
}

const stores: [string, () => Promise<AgentStateStore> | AgentStateStore][] = [
  ...keptStores.map(
    (kind) => [kind, () => newStore(kind)] as [string, () => Promise<AgentStateStore>],
  ),
  ["encrypted memory", () => memorySubject().store],
  ["encrypted files", () => fileSubject().store],
];

test.each(stores)(
  "a fork goes on from a position, and the session it comes from does not notice: %s",
  async (_, open) => {
    const store = await open();
    const model = scriptedModel(({ messages }) => `answer ${messages.length}`);
    const agent = agentOn(store, { model });
    await agent.call("Where is Oslo?", ada);
    const second = await agent.call("And Bergen?", ada);
    const long = "long ".repeat(20_000);
    await agent.call(`And this: ${long}`, ada);
    await agent.setSession(ada, { metadata: { project: "fjords" } });
    const before = (await agent.getAgentState(ada))?.toJsonString();

    const fork = await agent.fork("ada", "one", { at: second.message.id, as: "two" });
    expect(fork).toEqual(slotOf("two", "ada"));
    await agent.call("And Voss?", fork);
    expect(outline(model.requests.at(-1)?.messages)).toEqual([
      "user: Where is Oslo?",
      "assistant: answer 1",
      "user: And Bergen?",
      "assistant: answer 3",
      "user: And Voss?",
    ]);
    const turns = ["Where is Oslo?", "answer 1", "And Bergen?", "answer 3"];
    expect(await said(store, "two")).toEqual([...turns, "And Voss?", "answer 5"]);

    // By the position in the log, and into a session with an id of its own.
    const records = await logRecords(store, slotOf("one", "ada"));
    const at = records.find(({ message }) => message?.id === second.message.id)?.seq;
    const third = await agent.fork(ada, { at });
    expect(await said(store, third.sessionId)).toEqual(turns);

    // The end: with the long text, which another process reads as well.
    await agent.fork(ada, { as: "three" });
    expect((await said(store, "three")).map(({ length }) => length)).toContain(long.length + 10);
    const other = agentOn(store);
    expect((await other.getAgentState("ada", "three"))?.context).toEqual(
      (await other.getAgentState(ada))?.context,
    );

    // A fork of a fork, behind turns of its own.
    await agent.fork(fork, { as: "four" });
    expect(await said(store, "four")).toEqual([...turns, "And Voss?", "answer 5"]);

    const { slots } = await agent.sessions({ userId: "ada", metadata: { project: "fjords" } });
    expect(
      Object.fromEntries(slots.map(({ slot, info }) => [slot.sessionId, info?.title])),
    ).toEqual({
      one: "Where is Oslo?",
      two: "Fork of Where is Oslo?",
      three: "Fork of Where is Oslo?",
      four: "Fork of Where is Oslo?",
      [third.sessionId]: "Fork of Where is Oslo?",
    });
    expect((await agent.getAgentState(ada))?.toJsonString()).toBe(before);
    // Whatever is changed about the fork, its turns stay its own; also without the session it comes from.
    await agent.setSession(fork, { title: null, metadata: null });
    await agent.updateAgentState(fork, (state) => AgentState.fromJson(state.toJSON()));
    await agent.deleteSession(ada);
    expect(await said(store, "two")).toEqual([...turns, "And Voss?", "answer 5"]);
  },
);

test("a fork needs a session, a position in it and an id that is free", async () => {
  const agent = agentOn(new InMemoryAgentStateStore());
  await agent.call("hi", ada);
  const refused = async (options: object, session = ada): Promise<string> => {
    const error = await agent.fork(session, options).catch((thrown: unknown) => thrown);
    expect(InvalidInputError.is(error)).toBe(true);
    return (error as Error).message;
  };
  expect(await refused({}, { ...ada, sessionId: "none" })).toMatch(/there is no session "none"/);
  expect(await refused({ at: 999 })).toMatch(/no position 999/);
  expect(await refused({ at: "m-1" })).toMatch(/no message with the id "m-1"/);
  expect(await refused({ at: null })).toMatch(/at must be a position/);
  expect(await refused({ to: "x" })).toMatch(/to/);
  await expect(agent.fork(ada, { as: "" })).rejects.toMatchObject({ code: "INVALID_ID" });
  const exists = await agent.fork(ada, { as: "one" }).catch((thrown: unknown) => thrown);
  expect(StateConflictError.is(exists)).toBe(true);
  expect((exists as Error).message).toMatch(/session "one".*exists.*deleteSession/);
  expect((await agent.sessions()).slots).toHaveLength(1);
});

const ports = definePlugin({
  name: "ports",
  contract: 1,
  setup(host) {
    const guard = listGuard({ ask: ["asks"] });
    host.provide("toolGuard", { ...guard, considers: ["permissionMode", "planMode"] });
    host.provide("compactor", keepLastCompactor({ keepMessages: 2 }));
    const schema = z.object({ note: z.string() });
    const copied = host.state({ schema, initial: () => ({ note: "" }) });
    host.use({
      name: "ports",
      onCall: (step, next) => {
        copied.set(step.state, { note: "mine" });
        return next();
      },
    });
  },
});
const local = definePlugin({
  name: "local",
  contract: 1,
  setup(host) {
    const schema = z.object({ task: z.string() });
    const own = host.state({ schema, initial: () => ({ task: "" }), forks: false });
    host.use({
      name: "local",
      onCall: (step, next) => {
        own.set(step.state, { task: "t-1" });
        return next();
      },
    });
  },
});

test("what was compacted is back in a fork before it, and sections are copied, but nothing that waits", async () => {
  const events: AgentEvent[] = [];
  const replies = ["one", "two", "three", { toolCalls: [{ name: "asks", input: {} }] }];
  const model = scriptedModel(() => replies.shift() ?? "done");
  const asks = tool({ name: "asks", description: "Asks.", input: z.object({}), execute: () => "" });
  const options: Partial<ReActAgentOptions> = {
    model,
    tools: [asks],
    plugins: [ports, local],
    onEvent: (event) => events.push(event),
  };
  const agent = agentOn(new InMemoryAgentStateStore(), options);
  const first = await agent.call("first", ada);
  await agent.call("second", ada);
  await agent.call("third", ada);
  await agent.compact(ada, { force: true });
  await agent.updateAgentState(ada, (state) => {
    state.tasksContext = { tasks: [{ content: "pack", status: "pending" }] };
    state.permissionContext.allow = [{ tool: "asks", pattern: "x" }];
  });
  await agent.enterPlanMode(ada);
  expect((await agent.call("fourth", ada)).reason).toBe("permission_asking");

  const early = await agent.fork(ada, { at: first.message.id });
  const state = await agent.getAgentState(early);
  expect(outline(state)).toEqual(["user: first", "assistant: one"]);
  expect(state?.tasksContext.tasks).toEqual([]);
  expect(state?.permissionContext.allow).toEqual([{ tool: "asks", pattern: "x" }]);
  expect(state?.planModeContext.active).toBe(true);
  expect(Object.keys(state?.extensions ?? {}).sort()).toEqual([
    "holdfast.fork",
    "holdfast.session",
    "ports",
  ]);
  expect(events.filter(({ type }) => type === "session_forked")).toMatchObject([
    { slot: early, from: "one", messages: 2, background: true },
  ]);

  const late = await agent.fork(ada);
  const whole = await agent.getAgentState(late);
  expect(whole?.tasksContext.tasks).toHaveLength(1);
  expect(whole?.openCalls).toEqual({});
  expect(outline(whole).at(-1)).toBe("user: fourth");
  expect(await agent.pending(late)).toEqual([]);
  expect(await agent.pending(ada)).toHaveLength(1);
  expect((await agent.call("fifth", late)).text).toBe("done");
});

test.each(["call", "step"] as const)(
  "a running call goes on beside its session's fork, which has nothing of it: saved per %s",
  async (persistence) => {
    const [running, end] = [door(), door()];
    const work = tool({
      name: "work",
      description: "Works.",
      input: z.object({}),
      execute: async () => {
        running.open();
        await end.opened;
        return "worked";
      },
    });
    const replies = ["hello", { toolCalls: [{ name: "work", input: {} }] }];
    const model = scriptedModel(() => replies.shift() ?? "done");
    const store = new InMemoryAgentStateStore();
    const agent = agentOn(store, { model, tools: [work], persistence });
    await agent.call("hi", ada);
    const call = agent.call("work", ada);
    await running.opened;
    const fork = await agent.fork(ada, { as: "two" });
    expect(outline(await agent.getAgentState(fork))).toEqual(["user: hi", "assistant: hello"]);
    expect(await said(store, "two")).toEqual(["hi", "hello"]);
    end.open();
    expect((await call).text).toBe("done");
  },
);

describe.each([true, false])(
  "a process that dies while it forks, on a store that is fused: %s",
  (fused) => {
    const died: Fault = async () => {
      throw new Error("died");
    };
    const diedAfter: Fault = async (run) => {
      await run();
      throw new Error("died");
    };
    test.each<[string, CommandName, (Fault | undefined)[], number]>([
      ["before the log", "append", [died], 0],
      ["at the beginning of the log", "append", [diedAfter], 0],
      ["in the log", "append", [undefined, diedAfter], 0],
      ["late in the log", "append", [undefined, undefined, diedAfter], 0],
      ["before the state", "save", [died], 0],
      ["behind the state", "save", [diedAfter], 1],
      ["once without an answer", "save", [lostAnswer], 1],
    ])("%s", async (where, command, faults, forks) => {
      const store = new FaultyStore({ fused });
      const agent = agentOn(store);
      // Of a store that saves state and log together, more than it is given at once.
      const padding = fused ? ".".repeat(10_000) : "";
      const lines = Array.from({ length: 120 }, (_, n) => `line ${n}${padding}`);
      await agent.updateAgentState(ada, (state) => {
        for (const line of lines) state.contextMutable().push(userMessage(line));
      });
      store.next(command, ...faults);
      const forked = agent.fork(ada, { as: "two" });
      if (where === "once without an answer") await forked;
      else await expect(forked).rejects.toThrow("died");

      const gate = new InProcessSessionGate();
      const next = agentOn(store.inner, fused ? {} : { gate });
      expect((await next.sessions()).slots).toHaveLength(1 + forks);
      expect(await said(store.inner, "two")).toEqual(forks ? lines : []);
      if (forks) await expect(next.fork(ada, { as: "two" })).rejects.toThrow("exists");
      else {
        // Shorter than what the dead one had begun with.
        const { seq: at } = (await logRecords(store.inner, slotOf("one", "ada")))[9] as {
          seq: number;
        };
        await next.fork(ada, { as: "two", at });
        expect(await said(store.inner, "two")).toEqual(lines.slice(0, 10));
        expect(outline(await next.getAgentState("ada", "two"))).toHaveLength(10);
      }
    });
  },
);

test("a store that saves state and log together gets a fork in one step, with each message once", async () => {
  const store = new FaultyStore({ fused: true });
  const agent = agentOn(store);
  for (const line of ["one", "two", "three"]) await agent.call(line, ada);
  const fork = slotOf("two", "ada");
  store.next("save", unavailable);
  store.every("append", unavailable);
  await expect(agentOn(store, { saveDeadlineMs: 1 }).fork(ada, { as: "two" })).rejects.toThrow();
  expect(await logRecords(store.inner, fork)).toEqual([]);
  // This one tells that it failed.
  store.every("append", undefined);
  store.next("save", unavailable);
  await expect(agentOn(store, { saveDeadlineMs: 1 }).fork(ada, { as: "two" })).rejects.toThrow();
  expect((await logRecords(store.inner, fork)).map(({ mark }) => mark?.name)).toEqual([
    "fork_end",
    "call_end",
  ]);
  expect(await agent.getAgentState(fork)).toBeNull();

  store.commands.length = 0;
  await agent.fork(ada, { as: "two" });
  expect(store.commands.map(({ name }) => name)).not.toContain("append");
  const { write } = store.commands.find(({ name }) => name === "save") ?? {};
  const logged = write?.log?.flatMap(({ message }) => message ?? []) ?? [];
  // The same objects, which a store need not send or keep twice.
  expect(write?.append.map((message) => logged.indexOf(message))).toEqual([0, 1, 2, 3, 4, 5]);
  expect(await said(store.inner, "two")).toEqual(["one", "ok", "two", "ok", "three", "ok"]);
});

test("words that a call left in the inbox are a session, which no fork takes over", async () => {
  const store = new InMemoryAgentStateStore();
  const agent = agentOn(store);
  await agent.call("hi", ada);
  const body = { input: "words" };
  await store.inbox.put(slotOf("two", "ada"), {
    kind: "input",
    id: "e",
    callId: "c",
    at: "2026-01-01T00:00:00Z",
    body,
  });
  await expect(agent.fork(ada, { as: "two" })).rejects.toMatchObject({ code: "CONFLICT" });
});

test("a session that another process begins meanwhile is not overwritten, whatever the policy", async () => {
  const store = new FaultyStore({ fused: false });
  const agent = agentOn(store, { conflictPolicy: "overwrite" });
  await agent.call("hi", ada);
  const stranger = agentOn(store.inner, { gate: new InProcessSessionGate() });
  store.next("save", async (run) => {
    await stranger.call("mine", { ...ada, sessionId: "two" });
    return run();
  });
  await expect(agent.fork(ada, { as: "two" })).rejects.toMatchObject({ code: "CONFLICT" });
  expect(outline(await agent.getAgentState("ada", "two"))).toEqual(["user: mine", "assistant: ok"]);
});

test("a fork whose lease was lost leaves a log alone that may be another fork's by then", async () => {
  const store = new FaultyStore({ fused: false });
  const inner = new InProcessSessionGate();
  const lost = new AbortController();
  const gate: SessionGate = {
    ...{ contract: 1, kind: inner.kind, reach: inner.reach, calls: (slot) => inner.calls(slot) },
    acquire: async (slot, request): Promise<Lease> => {
      const lease = await inner.acquire(slot, request);
      const { token, validUntil } = lease;
      return { token, validUntil, lost: lost.signal, release: () => lease.release() };
    },
  };
  const agent = agentOn(store, { gate });
  await agent.call("hi", ada);
  store.next("save", async () => {
    throw new Error("died");
  });
  await expect(agent.fork(ada, { as: "two" })).rejects.toThrow("died");
  const begun = await logRecords(store.inner, slotOf("two", "ada"));
  expect(begun[0]?.mark?.name).toBe("fork_start");
  store.next("read", async (run) => {
    const records = await run();
    lost.abort(new Error("the lease ran out"));
    return records;
  });
  await expect(agent.fork(ada, { as: "two" })).rejects.toSatisfy(LeaseLostError.is);
  expect(await logRecords(store.inner, slotOf("two", "ada"))).toEqual(begun);
});

test("a harness agent forks, and seals what the fork may do", async () => {
  const store = new InMemoryAgentStateStore();
  const agent = HarnessAgent.create({
    name: "a",
    model: scriptedModel(() => "ok"),
    stateStore: store,
    integrity: { key: "a key of at least 32 characters, for tests" },
  });
  await agent.call("hi", ada);
  await agent.fork(ada, { as: "two" });
  expect((await agent.call("again", { ...ada, sessionId: "two" })).text).toBe("ok");
  await expect(agent.fork(ada, { as: "two" })).rejects.toThrow("exists");
  await agent.close();
});

test("a session that only another process can judge is forked the same by it", async () => {
  const store = new InMemoryAgentStateStore({ fused: false });
  await agentOn(store).call("hi", ada);
  const fresh = new ReActAgent({ name: "a", model: scriptedModel(() => "ok"), stateStore: store });
  await fresh.fork(ada, { as: "two" });
  expect(await said(store, "two")).toEqual(["hi", "ok"]);
  for (const input of ["a", "b", "c"]) await fresh.call(input, { ...ada, sessionId: "two" });
  expect(await said(store, "two")).toEqual(["hi", "ok", "a", "ok", "b", "ok", "c", "ok"]);
});
