import {
  type AgentStateStore,
  ConfigurationError,
  type DistributedStore,
  definePlugin,
  InMemoryAgentStateStore,
  type Message,
  type Middleware,
  type Model,
  ReActAgent,
  type ReActAgentOptions,
  type Tool,
  tool,
} from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { pairedModel } from "./valid-pairing.js";

const t = tool({ name: "t", description: "t", input: z.object({}), execute: () => "ok" });

function problemsOf(options: Partial<ReActAgentOptions>): readonly string[] {
  try {
    new ReActAgent({ name: "a", model: pairedModel([]), ...options });
  } catch (error) {
    if (ConfigurationError.is(error)) return error.problems;
    throw error;
  }
  return [];
}

describe("a ConfigurationError", () => {
  test("lists every problem at once", () => {
    const options = {
      name: "",
      model: {} as Model,
      maxIterations: 0,
      persistence: "sometimes" as "call",
      middleware: [{ name: "m" }, { name: "m" }],
      tools: [t, t],
      plugins: [
        { name: "p", contract: 9, setup: () => {} } as never,
        definePlugin({
          name: "needy",
          contract: 1,
          setup: (host) => void host.require("compactor"),
        }),
      ],
    };
    const problems = problemsOf(options);
    for (const part of [
      "name: ",
      "model: ",
      "maxIterations: ",
      "persistence: ",
      '"m"',
      '"t"',
      '"p"',
      '"needy"',
    ])
      expect(problems.filter((problem) => problem.includes(part))).toHaveLength(1);
    expect(problems).toHaveLength(8);
    expect(() => new ReActAgent(options)).toThrow(/^8 problems:\n- /);
  });

  test.each<[Partial<ReActAgentOptions>, RegExp]>([
    [{ maxIterations: 0 }, /^maxIterations: .*>=1.*, got 0$/],
    [{ maxIterations: 1.5 }, /^maxIterations: .*int.*, got 1.5$/],
    [{ maxIterations: "3" as never }, /^maxIterations: .*number.*, got "3"$/],
    [{ persistence: "never" as never }, /^persistence: .*"call"\|"step".*, got "never"$/],
    [{ conflictPolicy: "win" as never }, /^conflictPolicy: .*"merge-append".*, got "win"$/],
    [{ modelRetry: { attempts: 0 } }, /^modelRetry\.attempts: .*>=1.*, got 0$/],
    [{ modelRetry: 3 as never }, /^modelRetry: .*object.*, got 3$/],
    [{ limits: { messageBytes: -1 } }, /^limits\.messageBytes: .*>=1.*, got -1$/],
    [{ stateCache: { maxSessions: -1 } }, /^stateCache\.maxSessions: .*>=0.*, got -1$/],
    [{ agentId: "" }, /^agentId: /],
    [{ agentId: "\ud800" }, /agentId/],
    [{ defaultSessionId: "x".repeat(256) }, /^defaultSessionId: .*255/],
    [{ systemPrompt: 5 as never }, /^systemPrompt: .*string.*, got 5$/],
    [
      { model: undefined as never },
      /^model: the agent needs one, for example fromAiSdk\(openai\("…"\)\) of @holdfast/,
    ],
    [{ model: "gpt" as never }, /^model: .*stream.*, got "gpt"$/],
    [{ fallbackModel: { id: "x" } as Model }, /^fallbackModel: .*stream.*, got an object$/],
    [{ middleware: [undefined as unknown as Middleware] }, /middleware/],
    [{ middleware: [{} as Middleware] }, /middleware/],
    [{ tools: [undefined as unknown as Tool] }, /tool\(/],
    [{ tools: [{ name: "plain", execute: () => 1 } as unknown as Tool] }, /"plain".*tool\(/],
    [
      {
        toolGroups: [
          { name: "g", tools: [t] },
          { name: "g", tools: [] },
        ],
      },
      /two tool groups are named "g"/,
    ],
  ])("names the option, the value and what is accepted: %j", (options, expected) => {
    const problems = problemsOf(options);
    expect(problems).toEqual([expect.stringMatching(expected)]);
  });

  test.each(["stateStore", "log", "gate", "signals", "keyValue"] as const)(
    "refuses a %s of another contract, wherever it comes from",
    (port) => {
      const companions = new InMemoryAgentStateStore().companions();
      const foreign = { ...companions[port], contract: 2 };
      const expected = [expect.stringMatching(new RegExp(`^${port}: .*contract 2`))];
      expect(problemsOf({ [port]: foreign })).toEqual(expected);
      const distributedStore = { ...companions, [port]: foreign } as DistributedStore;
      expect(problemsOf({ distributedStore })).toEqual(expected);
    },
  );

  test("comes before any I/O", () => {
    const touched: string[] = [];
    const untouchable = new Proxy(new InMemoryAgentStateStore(), {
      get(target, key) {
        if (["load", "save", "list", "delete", "close"].includes(String(key)))
          touched.push(String(key));
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    }) as AgentStateStore;
    new ReActAgent({ name: "a", model: pairedModel([]), stateStore: untouchable });
    expect(touched).toEqual([]);
  });
});

describe("an option", () => {
  test("left out or undefined takes its default", async () => {
    const agent = new ReActAgent({
      name: "a",
      model: pairedModel(["ok"]),
      agentId: undefined,
      defaultSessionId: undefined,
      limits: undefined,
      modelRetry: { attempts: undefined },
    });
    const reply = await agent.call("hi");
    expect(agent.agentId).toBe("a");
    expect(reply.sessionId).toBe("default");
  });

  test("defaultSessionId names the session of calls that name none", async () => {
    const agent = new ReActAgent({
      name: "a",
      model: pairedModel(["ok"]),
      defaultSessionId: "main",
    });
    expect((await agent.call("hi")).sessionId).toBe("main");
    expect(await agent.getAgentState(null, "main")).not.toBeNull();
    expect((await agent.getAgentState())?.sessionId).toBe("main");
  });

  test("slot keys sessions its own way, for every method", async () => {
    const agent = new ReActAgent({
      name: "a",
      model: pairedModel(["ok"]),
      slot: (ctx) => ({ userId: `acme/${ctx.userId}`, sessionId: ctx.sessionId ?? "home" }),
    });
    await agent.call("hi", { userId: "u" });
    const { slots } = await agent.sessions();
    expect(slots.map(({ slot }) => slot)).toEqual([
      { agentId: "a", userId: "acme/u", sessionId: "home" },
    ]);
    expect((await agent.getAgentState("u", "home"))?.userId).toBe("acme/u");
  });

  test("clock is the time of every message and log record", async () => {
    const at = new Date("2020-02-02T02:02:02.000Z");
    const stateStore = new InMemoryAgentStateStore();
    const calling = { toolCalls: [{ name: "t", input: {} }] };
    const model = pairedModel([calling, calling, "limit", calling]);
    const external = tool({ name: "x", description: "x", input: z.object({}) });
    const agent = new ReActAgent({
      name: "a",
      model,
      tools: [t, external],
      stateStore,
      maxIterations: 2,
      clock: () => at,
      middleware: [
        {
          name: "stopper",
          onReasoning: async (step, next) => {
            if (model.requests.length === 3) step.stop();
            return next();
          },
        },
      ],
    });
    await agent.call("hi");
    await agent.call("again");
    const asking = new ReActAgent({
      name: "a",
      model: pairedModel([{ toolCalls: [{ name: "x", input: {} }] }, "done"]),
      tools: [external],
      stateStore,
      clock: () => at,
    });
    const paused = await asking.call("suspend");
    if (paused.reason !== "tool_suspended") throw new Error("not suspended");
    const results = paused.pending.map(({ toolCallId: callId }) => ({
      toolCallId: callId,
      output: "result",
    }));
    await asking.call({ results });
    const state = await asking.getAgentState();
    const times = new Set(state?.context.map((message: Message) => message.createdAt));
    expect([...times]).toEqual([at.toISOString()]);
    const slot = { agentId: "a", userId: null, sessionId: "default" };
    const records = await stateStore.companions().log.read(slot);
    expect(new Set(records.map((record) => record.at))).toEqual(new Set([at.toISOString()]));
  });
});
