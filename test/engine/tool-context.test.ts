import {
  type AgentState,
  InMemoryAgentStateStore,
  type Middleware,
  ReActAgent,
  RuntimeContext,
  textOf,
  tool,
} from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { pairedModel } from "./valid-pairing.js";

class Basket {
  readonly items: string[] = [];
}

const nothing = z.object({});

/** A model that calls `names` in one step and then answers. */
function calls(...names: readonly string[]) {
  return pairedModel(({ messages }) =>
    messages.at(-1)?.role === "user"
      ? { toolCalls: names.map((name) => ({ name, input: {} })) }
      : "done",
  );
}

describe.each([true, false])("the RuntimeContext of a call, fused: %s", (fused) => {
  const stateStore = () => new InMemoryAgentStateStore({ fused });

  test("is shared by its hooks and tools, and not by the caller's object", async () => {
    const seen: unknown[] = [];
    const middleware: Middleware = {
      name: "m",
      async onCall({ ctx }, next) {
        ctx.put("by", "onCall");
        ctx.put(Basket, new Basket());
        const reply = await next();
        seen.push(ctx.get("fromTool"), ctx.get(Basket)?.items);
        return reply;
      },
      async onToolCall({ ctx }, next) {
        seen.push(ctx.get("by"));
        return next();
      },
    };
    const reading = tool({
      name: "reading",
      description: "Reads the context.",
      input: nothing,
      execute: (_, ctx) => {
        seen.push(ctx.get("by"), ctx.get("given"), ctx.userId, ctx.sessionId);
        ctx.put("fromTool", "hello");
        ctx.get(Basket)?.items.push("apple");
        return "ok";
      },
    });
    const ctx = RuntimeContext.builder().userId("u").sessionId("s").put("given", 7).build();
    const agent = new ReActAgent({
      name: "a",
      model: calls("reading"),
      tools: [reading],
      middleware: [middleware],
      stateStore: stateStore(),
    });
    await agent.call("go", ctx);
    expect(seen).toEqual(["onCall", "onCall", 7, "u", "s", "hello", ["apple"]]);
    expect({ ...ctx.extra }).toEqual({ given: 7 });
    expect(ctx.get(Basket)).toBeUndefined();
    expect(ctx.agentState).toBeUndefined();
  });

  test("is each call's own, though two at once were given the same object", async () => {
    let both = () => {};
    let inside = 0;
    const together = new Promise<void>((resolve) => {
      both = resolve;
    });
    const seen: unknown[] = [];
    const meeting = tool({
      name: "meeting",
      description: "Waits for the other call.",
      input: nothing,
      async execute(_, ctx) {
        const mine = ++inside;
        ctx.put("mine", mine);
        if (mine === 2) both();
        await together;
        seen.push([mine, ctx.get("mine")]);
        return "ok";
      },
    });
    const ctx = RuntimeContext.builder().put("shared", true).build();
    const make = (name: string) =>
      new ReActAgent({ name, model: calls("meeting"), tools: [meeting], stateStore: stateStore() });
    await Promise.all([make("a").call("go", ctx), make("b").call("go", ctx)]);
    expect(seen).toHaveLength(2);
    for (const [mine, got] of seen as [number, number][]) expect(got).toBe(mine);
    expect({ ...ctx.extra }).toEqual({ shared: true });
  });

  test("carries the state the call works on, to tools and hooks; edits are saved with the call", async () => {
    const states = new Set<AgentState | undefined>();
    const editing = tool({
      name: "editing",
      description: "Edits the state.",
      input: nothing,
      execute: (_, ctx) => {
        if (ctx.agentState)
          ctx.agentState.tasksContext.tasks = [{ content: "buy milk", status: "pending" }];
        return ctx.agentState?.context.map(textOf).join();
      },
    });
    const middleware: Middleware = {
      name: "m",
      async onActing({ ctx, state }, next) {
        states.add(ctx.agentState).add(state);
        return next();
      },
    };
    const store = stateStore();
    const agent = new ReActAgent({
      name: "a",
      model: calls("editing", "editing"),
      tools: [editing],
      middleware: [middleware],
      stateStore: store,
    });
    await agent.call("go", { sessionId: "s" });
    expect(states.size).toBe(1);
    const other = new ReActAgent({ name: "a", model: calls(), stateStore: store });
    const state = await other.getAgentState(null, "s");
    expect(state?.tasksContext.tasks).toEqual([{ content: "buy milk", status: "pending" }]);
  });

  test("gives every tool its own signal", async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const slow = tool({
      name: "slow",
      description: "Never ends.",
      input: nothing,
      timeoutMs: 5,
      execute: (_, ctx) => {
        signals.push(ctx.signal);
        return new Promise(() => {});
      },
    });
    const quick = tool({
      name: "quick",
      description: "Ends.",
      input: nothing,
      execute: (_, ctx) => {
        signals.push(ctx.signal);
        return "ok";
      },
    });
    const model = calls("slow", "quick");
    await new ReActAgent({ name: "a", model, tools: [slow, quick], stateStore: stateStore() }).call(
      "go",
    );
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, false]);
  });
});

test("RuntimeContext.resolveAgentState gives the running call's state, else the stored one", async () => {
  const resolved: (AgentState | null)[] = [];
  const agent: ReActAgent = new ReActAgent({
    name: "a",
    model: calls("look"),
    tools: [
      tool({
        name: "look",
        description: "Looks at the state.",
        input: nothing,
        execute: async (_, ctx) => {
          resolved.push(await RuntimeContext.resolveAgentState(ctx, agent), ctx.agentState ?? null);
          return "ok";
        },
      }),
    ],
  });
  await agent.call("go", { userId: "u", sessionId: "s" });
  expect(resolved[0]).toBe(resolved[1]);
  const ctx = RuntimeContext.of({ userId: "u", sessionId: "s" });
  const stored = await RuntimeContext.resolveAgentState(ctx, agent);
  expect(stored?.context.at(-1)).toMatchObject({ role: "assistant" });
});
