import {
  type AgentReply,
  assistantMessage,
  ConfigurationError,
  definePlugin,
  InMemoryAgentStateStore,
  type Middleware,
  ReActAgent,
  textOf,
  tool,
  toolResultsOf,
} from "@holdfast/core";
import type { ScriptedReply } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { pairedModel, stateProblem } from "./valid-pairing.js";

const ran: string[] = [];
const echo = tool({
  name: "echo",
  description: "Says it again.",
  input: z.object({ say: z.string() }),
  execute: ({ say }) => {
    ran.push(say);
    return say;
  },
});
const echoing = (...words: readonly string[]): ScriptedReply => ({
  toolCalls: words.map((say) => ({ name: "echo", input: { say } })),
});

/** Notes when each hook is entered and left. */
function tracing(name: string, trace: string[]): Middleware {
  const around = async <R>(hook: string, next: () => Promise<R>): Promise<R> => {
    trace.push(`${hook} ${name}`);
    const result = await next();
    trace.push(`/${hook} ${name}`);
    return result;
  };
  return {
    name,
    onCall: (_, next) => around("call", next),
    onReasoning: (_, next) => around("reasoning", next),
    onActing: (_, next) => around("acting", next),
    onToolCall: (_, next) => around("tool", next),
    async *onModelCall(_, next) {
      trace.push(`model ${name}`);
      yield* next();
      trace.push(`/model ${name}`);
    },
    onSystemPrompt: (prompt) => `${prompt}>${name}`,
  };
}

function asPlugin(middleware: Middleware) {
  return definePlugin({
    name: `plugin of ${middleware.name}`,
    contract: 1,
    setup: (host) => host.use(middleware),
  });
}

test("hooks are onions: the user's outside the plugins', each in the order given", async () => {
  const trace: string[] = [];
  const model = pairedModel([echoing("x"), "done"]);
  const agent = new ReActAgent({
    name: "a",
    model,
    tools: [echo],
    systemPrompt: "base",
    plugins: [asPlugin(tracing("p1", trace)), asPlugin(tracing("p2", trace))],
    middleware: [tracing("u1", trace), tracing("u2", trace)],
  });
  await agent.call("go");
  const order = ["u1", "u2", "p1", "p2"];
  const inside = (hook: string, core: readonly string[]) => [
    ...order.map((name) => `${hook} ${name}`),
    ...core,
    ...order.toReversed().map((name) => `/${hook} ${name}`),
  ];
  const thinking = inside("reasoning", inside("model", []));
  const acting = inside("acting", inside("tool", []));
  expect(trace).toEqual(inside("call", [...thinking, ...acting, ...thinking]));
  expect(model.requests.map(({ system }) => system)).toEqual([
    "base>u1>u2>p1>p2",
    "base>u1>u2>p1>p2",
  ]);
});

describe.each([true, false])("a hook, fused: %s", (fused) => {
  const setup = (
    script: readonly ScriptedReply[],
    middleware: Omit<Middleware, "name">,
    more = {},
  ) => {
    ran.length = 0;
    const model = pairedModel(script);
    const agent = new ReActAgent({
      name: "a",
      model,
      tools: [echo],
      stateStore: new InMemoryAgentStateStore({ fused }),
      middleware: [{ name: "m", ...middleware }],
      ...more,
    });
    return { model, agent };
  };
  const texts = async (agent: ReActAgent) => (await agent.getAgentState())?.context.map(textOf);

  test("onCall may change the reply", async () => {
    const { agent } = setup(["hello"], {
      onCall: async (_, next) => ({ ...(await next()), text: "HELLO" }),
    });
    expect((await agent.call("hi")).text).toBe("HELLO");
  });

  test("onCall may answer by itself; the model is not asked", async () => {
    const own = assistantMessage("Closed on Sundays.");
    const { model, agent } = setup(["hello"], {
      onCall: async ({ input, state, slot, ctx, runId }): Promise<AgentReply> => {
        state.contextMutable().push(...input, own);
        const { sessionId } = slot;
        const { callId = "" } = ctx;
        const usage = { inputTokens: 0, outputTokens: 0 };
        return { reason: "stop", message: own, text: textOf(own), usage, sessionId, callId, runId };
      },
    });
    expect((await agent.call("hi")).text).toBe("Closed on Sundays.");
    expect(model.requests).toEqual([]);
    expect(await texts(agent)).toEqual(["hi", "Closed on Sundays."]);
  });

  test("onReasoning may replace the model's message, or spare the model", async () => {
    const { model, agent } = setup(["hello"], {
      onReasoning: async (_, next) =>
        model.requests.length > 0
          ? assistantMessage("from the hook")
          : assistantMessage(textOf(await next()).toUpperCase()),
    });
    expect((await agent.call("hi")).text).toBe("HELLO");
    expect((await agent.call("hi again")).text).toBe("from the hook");
    expect(model.requests).toHaveLength(1);
    expect(await texts(agent)).toEqual(["hi", "HELLO", "hi again", "from the hook"]);
  });

  test("onReasoning is told the iteration, 0 first", async () => {
    const iterations: number[] = [];
    const { agent } = setup([echoing("1"), echoing("2"), "done"], {
      onReasoning: async ({ iteration }, next) => {
        iterations.push(iteration);
        return next();
      },
    });
    await agent.call("go");
    expect(iterations).toEqual([0, 1, 2]);
  });

  test("onModelCall may wrap the stream, and change the request, which is not kept", async () => {
    const { model, agent } = setup(["hello", "hello"], {
      async *onModelCall(step, next) {
        step.request = {
          ...step.request,
          system: "changed",
          messages: [...step.request.messages, assistantMessage("(only here)")],
        };
        for await (const chunk of next())
          yield chunk.type === "text_delta" ? { ...chunk, text: chunk.text.toUpperCase() } : chunk;
      },
    });
    expect((await agent.call("hi")).text).toBe("HELLO");
    expect(model.requests[0]?.system).toBe("changed");
    expect(model.requests[0]?.messages.map(textOf)).toEqual(["hi", "(only here)"]);
    expect(await texts(agent)).toEqual(["hi", "HELLO"]);
    await agent.call("hi");
    expect(model.requests[1]?.messages.map(textOf)).toEqual(["hi", "HELLO", "hi", "(only here)"]);
  });

  test("onModelCall may answer without the model", async () => {
    const { model, agent } = setup([], {
      async *onModelCall() {
        yield { type: "text_delta", text: "from a cache" };
        yield { type: "finish", reason: "stop", usage: { inputTokens: 0, outputTokens: 0 } };
      },
    });
    expect((await agent.call("hi")).text).toBe("from a cache");
    expect(model.requests).toEqual([]);
  });

  test("onActing may change results, or answer all calls without running them", async () => {
    const { model, agent } = setup([echoing("a", "b"), "done"], {
      onActing: async ({ calls }) =>
        calls.map(({ id: toolCallId, name }, index) => ({
          type: "tool_result",
          toolCallId,
          name,
          state: "success",
          output: [{ type: "text", text: `#${index}` }],
        })),
    });
    await agent.call("go");
    expect(ran).toEqual([]);
    const results = (model.requests[1]?.messages ?? []).flatMap(toolResultsOf);
    expect(results.map(({ output }) => output)).toEqual([
      [{ type: "text", text: "#0" }],
      [{ type: "text", text: "#1" }],
    ]);
  });

  test("onActing that leaves a result out does not leave the call open", async () => {
    const { model, agent } = setup([echoing("a", "b"), "done"], {
      onActing: async (_, next) => (await next()).slice(1),
    });
    expect((await agent.call("go")).reason).toBe("stop");
    const results = (model.requests[1]?.messages ?? []).flatMap(toolResultsOf);
    expect(results.map(({ state }) => state)).toEqual(["error", "success"]);
    const state = await agent.getAgentState();
    expect(state && stateProblem(state)).toBeNull();
  });

  test("onToolCall may change a result, or spare the tool", async () => {
    const { model, agent } = setup([echoing("a", "secret"), "done"], {
      onToolCall: async ({ call }, next) => {
        const { say } = call.input as { say: string };
        const output = [{ type: "text", text: say === "secret" ? "***" : "changed" }] as const;
        const base = { type: "tool_result", toolCallId: call.id, name: call.name } as const;
        return say === "secret"
          ? { ...base, state: "denied", output }
          : { ...(await next()), output };
      },
    });
    await agent.call("go");
    expect(ran).toEqual(["a"]);
    const results = (model.requests[1]?.messages ?? []).flatMap(toolResultsOf);
    expect(results.map(({ state, output }) => [state, output[0]])).toEqual([
      ["success", { type: "text", text: "changed" }],
      ["denied", { type: "text", text: "***" }],
    ]);
  });

  test("may edit the state; the edit is saved with the call", async () => {
    const { agent } = setup(["ok"], {
      onCall: async ({ state }, next) => {
        state.planModeContext.active = true;
        return next();
      },
    });
    await agent.call("hi");
    expect((await agent.getAgentState())?.planModeContext.active).toBe(true);
  });

  test.each<[string, Omit<Middleware, "name">]>([
    ["onCall", { onCall: () => Promise.reject(new Error("no")) }],
    [
      "onCall, after the turn",
      {
        onCall: async (_, next) => {
          await next();
          throw new Error("no");
        },
      },
    ],
    ["onReasoning", { onReasoning: () => Promise.reject(new Error("no")) }],
    [
      "onModelCall",
      {
        onModelCall: () => {
          throw new Error("no");
        },
      },
    ],
    ["onSystemPrompt", { onSystemPrompt: () => Promise.reject(new Error("no")) }],
    ["onActing", { onActing: () => Promise.reject(new Error("no")) }],
    ["onToolCall", { onToolCall: () => Promise.reject(new Error("no")) }],
  ])(
    "that throws in %s fails the call; the input is kept and the state valid",
    async (_, hooks) => {
      const stateStore = new InMemoryAgentStateStore({ fused });
      const { agent } = setup([echoing("x"), "done"], hooks, { stateStore });
      await expect(agent.call("hi")).rejects.toThrow("no");
      const state = await agent.getAgentState();
      expect(state?.context.map(textOf)[0]).toBe("hi");
      expect(state && stateProblem(state)).toBeNull();
      expect(state?.openCalls).toEqual({});
      const next = new ReActAgent({ name: "a", model: pairedModel(["fine"]), stateStore });
      expect((await next.call("go on")).text).toBe("fine");
    },
  );

  test("that throws about one tool call waits for its siblings and keeps their results", async () => {
    let release = () => {};
    const slow = tool({
      name: "slow",
      description: "Ends when it is let.",
      input: z.object({}),
      execute: () =>
        new Promise((resolve) => {
          release = () => resolve("slow one");
        }),
    });
    const { agent } = setup(
      [
        {
          toolCalls: [
            { name: "slow", input: {} },
            { name: "echo", input: { say: "x" } },
          ],
        },
      ],
      {
        onToolCall: async ({ call }, next) => {
          if (call.name !== "echo") return next();
          setImmediate(() => release());
          throw new Error("no");
        },
      },
      { tools: [slow, echo] },
    );
    await expect(agent.call("hi")).rejects.toThrow("no");
    const state = await agent.getAgentState();
    expect(state && stateProblem(state)).toBeNull();
    const results = (state?.context ?? []).flatMap(toolResultsOf);
    expect(results.map(({ name, state: outcome }) => [name, outcome])).toEqual([
      ["slow", "success"],
      ["echo", "interrupted"],
    ]);
  });
});

test("two middleware of one name are refused at construction, wherever they come from", () => {
  const twice: Middleware = { name: "twice" };
  const model = pairedModel([]);
  expect(() => new ReActAgent({ name: "a", model, middleware: [twice, twice] })).toThrow(
    ConfigurationError,
  );
  expect(
    () =>
      new ReActAgent({
        name: "a",
        model,
        middleware: [twice],
        plugins: [asPlugin({ name: "twice" })],
      }),
  ).toThrow('two middleware are named "twice"');
});
