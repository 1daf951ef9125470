import {
  type AgentEvent,
  type Compactor,
  definePlugin,
  type LogRecord,
  type Middleware,
  ReActAgent,
  type ReActAgentOptions,
  tool,
} from "@holdfast/core";
import { withBlobs } from "@holdfast/core/store-kit";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { logged, logRecords, outcomes, outline, slotOf } from "./conversation.js";
import { FaultyStore, unavailable } from "./faulty-store.js";

const ctx = { sessionId: "s" };
const none = z.object({});

/** Takes everything but the last two messages out of the context, as soon as there are more than three. */
const shortening: Compactor = {
  proactive: true,
  async compact({ state, dropping }) {
    const messagesBefore = state.context.length;
    if (messagesBefore <= 3) return { compacted: false, messagesBefore, messagesAfter: 3 };
    await dropping(state.context.slice(0, -2));
    state.contextMutable().replaceAll(state.context.slice(-2));
    return { compacted: true, messagesBefore, messagesAfter: 2 };
  },
};
const withCompactor = definePlugin({
  name: "shortening",
  contract: 1,
  setup: (host) => host.provide("compactor", shortening),
});

describe.each([true, false])("within a call, fused: %s", (fused) => {
  /** An agent whose tool `look` keeps what the log holds when it is called. */
  function lookingAgent(options: Partial<ReActAgentOptions> = {}) {
    const store = new FaultyStore({ fused });
    const looks: (readonly LogRecord[])[] = [];
    const look = tool({
      name: "look",
      description: "Looks into the log.",
      input: none,
      execute: async () => {
        looks.push(await logRecords(store, slotOf()));
        return "seen";
      },
    });
    const big = tool({
      name: "big",
      description: "Says much.",
      input: none,
      execute: () => "much ".repeat(1_000),
    });
    const calls = ["big", "look", "look"].map((name) => ({ toolCalls: [{ name, input: {} }] }));
    const agent = new ReActAgent({
      name: "a",
      model: scriptedModel([...calls, "done"]),
      stateStore: store,
      tools: [look, big],
      ...options,
    });
    return { agent, store, looks };
  }

  test("what a compaction took out of the context is in the log before the next step", async () => {
    const { agent, store, looks } = lookingAgent({ plugins: [withCompactor] });
    await agent.call("go", ctx);
    // The third request is the first that is shortened: four messages by then.
    expect(logged(looks[0] ?? [])).toEqual([]);
    expect(outline(logged(looks[1] ?? []))).toEqual([
      "user: go",
      "assistant: call big",
      `tool: success ${"much ".repeat(1_000)}`,
      "assistant: call look",
      "tool: success seen",
    ]);
    const records = await logRecords(store, slotOf());
    expect(logged(records)).toHaveLength(8);
    expect(new Set(records.map(({ id }) => id)).size).toBe(records.length);
    expect(outcomes(records)).toEqual(["committed"]);
  });

  test("listeners of a drop find in the log what is about to go", async () => {
    const seen: number[] = [];
    const watching: Middleware = {
      name: "watching",
      async onContextDrop(step, next) {
        const ids = new Set(logged(await logRecords(store, step.slot)).map(({ id }) => id));
        seen.push(step.messages.filter(({ id }) => !ids.has(id)).length);
        return next();
      },
    };
    const { agent, store } = lookingAgent({ plugins: [withCompactor], middleware: [watching] });
    await agent.call("go", ctx);
    expect(seen).toEqual([0, 0]);
  });

  test("a result that entered the context shortened is in the log whole before the next step", async () => {
    const shorten: Middleware = {
      name: "shorten",
      onToolResult: (result) =>
        result.name === "big" ? { ...result, output: [{ type: "text", text: "short" }] } : result,
    };
    const { agent, looks } = lookingAgent({ middleware: [shorten] });
    await agent.call("go", ctx);
    expect(outline(logged(looks[0] ?? [])).at(-1)).toBe(`tool: success ${"much ".repeat(1_000)}`);
    expect(outline(await agent.getAgentState(null, "s"))[2]).toBe("tool: success short");
  });

  test("a result the engine itself had to cut can be read whole by the next step", async () => {
    const { agent, store, looks } = lookingAgent({ limits: { messageBytes: 2_000 } });
    await agent.call("go", ctx);
    const record = looks[0]?.at(-1) as LogRecord;
    const log = store.companions().log;
    const whole = await withBlobs(log, slotOf(), record);
    expect(outline([whole.message as NonNullable<typeof whole.message>])).toEqual([
      `tool: success ${"much ".repeat(1_000)}`,
    ]);
  });

  test("a call of which nothing leaves the context writes once, at its end", async () => {
    const { agent, store } = lookingAgent();
    await agent.call("go", ctx);
    const appends = store.commands.filter(({ name }) => name === "append");
    expect(appends).toHaveLength(fused ? 0 : 1);
  });

  test("a log that cannot be written meanwhile gets everything with the save, once", async () => {
    const { agent, store, looks } = lookingAgent({ plugins: [withCompactor] });
    for (let times = 0; times < 3; times++) store.next("append", unavailable);
    await agent.call("go", ctx);
    expect(looks[1]).toEqual([]);
    const records = await logRecords(store, slotOf());
    expect(logged(records)).toHaveLength(8);
    expect(new Set(records.map(({ id }) => id)).size).toBe(records.length);
  });
});

describe("observing", () => {
  test("a plugin sees every event of the agent, and the end of a call after its save", async () => {
    const store = new FaultyStore({ fused: true });
    const events: AgentEvent[] = [];
    let savedAtEnd: unknown;
    const watcher = definePlugin({
      name: "watcher",
      contract: 1,
      setup(host) {
        host.observe(() => {
          throw new Error("a watcher's own");
        });
        host.observe((event) => {
          events.push(event);
          if (event.type === "call_end")
            savedAtEnd = store.commands.findLast(({ name }) => name === "save")?.answer;
        });
      },
    });
    const forProgram: AgentEvent[] = [];
    const agent = new ReActAgent({
      name: "a",
      model: scriptedModel(["hi"]),
      stateStore: store,
      plugins: [watcher],
      onEvent: (event) => forProgram.push(event),
    });
    await agent.call("hello", ctx);
    expect(events).toEqual(forProgram);
    expect(events.at(-1)?.type).toBe("call_end");
    expect(savedAtEnd).toEqual(expect.any(String));
  });

  test("a plugin has the agent's clock", () => {
    const at = new Date("2030-01-02T03:04:05Z");
    let seen: Date | undefined;
    const plugin = definePlugin({
      name: "late",
      contract: 1,
      setup(host) {
        host.onStart(async () => {
          seen = host.now();
        });
      },
    });
    const agent = new ReActAgent({
      name: "a",
      model: scriptedModel([]),
      plugins: [plugin],
      clock: () => at,
    });
    return agent.ready().then(() => expect(seen).toBe(at));
  });
});

test("an interrupt leaves a mark that says of which kind it was", async () => {
  const store = new FaultyStore({ fused: true });
  const stop: Middleware = {
    name: "stop",
    async onReasoning(step, next) {
      await agent.interrupt(step.slot.userId, step.slot.sessionId);
      return next();
    },
  };
  const agent = new ReActAgent({
    name: "a",
    model: scriptedModel(() => "ok"),
    stateStore: store,
    middleware: [stop],
  });
  await agent.call("hello", ctx);
  const marks = (await logRecords(store, slotOf())).flatMap(({ mark }) => mark ?? []);
  expect(marks).toEqual([
    { name: "interrupt", details: { kind: "interrupt" } },
    { name: "call_end", outcome: "interrupted" },
  ]);
});

test("deleting a user deletes logs of sessions that were never saved", async () => {
  const store = new FaultyStore({ fused: false });
  const { log } = store.companions();
  const agent = new ReActAgent({ name: "a", model: scriptedModel([]), stateStore: store });
  const at = new Date().toISOString();
  const mark = { name: "left over" };
  await log.append(slotOf("s", "u"), [{ v: 1, id: "1", callId: "c", at, kind: "mark", mark }]);
  await log.append(slotOf("s", "v"), [{ v: 1, id: "1", callId: "c", at, kind: "mark", mark }]);
  expect(await agent.deleteUser("u")).toBe(1);
  expect(await log.read(slotOf("s", "u"))).toEqual([]);
  expect(await log.read(slotOf("s", "v"))).toHaveLength(1);
});
