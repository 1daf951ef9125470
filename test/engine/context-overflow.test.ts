import {
  type AgentEvent,
  ContextOverflowError,
  definePlugin,
  InMemoryAgentStateStore,
  keepLastCompactor,
  type Message,
  type Middleware,
  type Plugin,
  ReActAgent,
  textOf,
} from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { pairedModel, stateProblem } from "./valid-pairing.js";

const overflow = () => new ContextOverflowError("too long");

function compactor(keepMessages: number): Plugin {
  return definePlugin({
    name: "compactor",
    contract: 1,
    setup: (host) => host.provide("compactor", keepLastCompactor({ keepMessages })),
  });
}

/** Answers requests of at most `limit` messages. */
function narrowModel(limit: number) {
  return pairedModel(({ messages }) =>
    messages.length > limit ? { error: overflow() } : `re: ${textOf(messages.at(-1) as Message)}`,
  );
}

describe.each([true, false])("a request that is too long, fused: %s", (fused) => {
  const stateStore = () => new InMemoryAgentStateStore({ fused });

  test.each(["call", "stream"] as const)(
    "is compacted and sent once more, in %s",
    async (method) => {
      const events: AgentEvent[] = [];
      const model = narrowModel(4);
      const agent = new ReActAgent({
        name: "a",
        model,
        stateStore: stateStore(),
        plugins: [compactor(3)],
        onEvent: (event) => events.push(event),
      });
      const ask = (input: string) =>
        method === "call" ? agent.call(input) : agent.stream(input).result;
      await ask("1");
      await ask("2");
      expect((await ask("3")).text).toBe("re: 3");
      expect(model.requests.slice(2).map(({ messages }) => messages.map(textOf))).toEqual([
        ["1", "re: 1", "2", "re: 2", "3"],
        ["2", "re: 2", "3"],
      ]);
      const state = await agent.getAgentState();
      expect(state?.context.map(textOf)).toEqual(["2", "re: 2", "3", "re: 3"]);
      expect(state && stateProblem(state)).toBeNull();
      expect(events.filter(({ type }) => type === "overflow_recovery")).toMatchObject([
        { recovered: true },
      ]);
    },
  );

  test("a second time is the caller's to handle; the compaction and the input are kept", async () => {
    // One that would always find something more to drop.
    const shedding = definePlugin({
      name: "shedding",
      contract: 1,
      setup: (host) =>
        host.provide("compactor", {
          async compact({ state }) {
            const messagesBefore = state.context.length;
            state.contextMutable().splice(0, 1);
            return { compacted: true, messagesBefore, messagesAfter: messagesBefore - 1 };
          },
        }),
    });
    const model = pairedModel((_, index) =>
      index < 2 ? `re: ${index + 1}` : { error: overflow() },
    );
    const agent = new ReActAgent({
      name: "a",
      model,
      stateStore: stateStore(),
      plugins: [shedding],
    });
    await agent.call("1");
    await agent.call("2");
    await expect(agent.call("3")).rejects.toSatisfy(ContextOverflowError.is);
    expect(model.requests).toHaveLength(4);
    const state = await agent.getAgentState();
    expect(state?.context.map(textOf)).toEqual(["re: 1", "2", "re: 2", "3"]);
  });

  test("propagates when there is nothing left to drop", async () => {
    const events: AgentEvent[] = [];
    const agent = new ReActAgent({
      name: "a",
      model: pairedModel(() => ({ error: overflow() })),
      stateStore: stateStore(),
      plugins: [compactor(3)],
      onEvent: (event) => events.push(event),
    });
    await expect(agent.call("1")).rejects.toSatisfy(ContextOverflowError.is);
    expect(events.filter(({ type }) => type === "overflow_recovery")).toMatchObject([
      { recovered: false },
    ]);
  });

  test("propagates as it is without a Compactor, input kept once", async () => {
    const error = overflow();
    const model = pairedModel(() => ({ error }));
    const agent = new ReActAgent({ name: "a", model, stateStore: stateStore() });
    await expect(agent.call("1")).rejects.toBe(error);
    expect(model.requests).toHaveLength(1);
    const state = await agent.getAgentState();
    expect(state?.context.map(textOf)).toEqual(["1"]);
  });
});

test("onContextDrop sees the dropped messages while they are still in the context", async () => {
  const seen: unknown[] = [];
  const watcher: Middleware = {
    name: "watcher",
    async onContextDrop({ messages, state }, next) {
      seen.push({ dropped: messages.map(textOf), context: state.context.map(textOf) });
      await next();
    },
  };
  const agent = new ReActAgent({
    name: "a",
    model: narrowModel(2),
    middleware: [watcher],
    plugins: [compactor(1)],
  });
  await agent.call("1");
  await agent.call("2");
  expect(seen).toEqual([{ dropped: ["1", "re: 1"], context: ["1", "re: 1", "2"] }]);
});

test("a hook that throws in onContextDrop fails the call, and nothing is dropped", async () => {
  const refusal = new Error("not yet");
  const model = pairedModel((_, index) => (index === 0 ? "re: 1" : { error: overflow() }));
  const agent = new ReActAgent({
    name: "a",
    model,
    middleware: [{ name: "keeper", onContextDrop: () => Promise.reject(refusal) }],
    plugins: [compactor(1)],
  });
  await agent.call("1");
  await expect(agent.call("2")).rejects.toBe(refusal);
  const state = await agent.getAgentState();
  expect(state?.context.map(textOf)).toEqual(["1", "re: 1", "2"]);
});
