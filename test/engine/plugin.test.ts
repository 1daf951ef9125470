import {
  type AgentEvent,
  ConfigurationError,
  definePlugin,
  InMemoryAgentStateStore,
  InMemoryKeyValueStore,
  InMemoryOffloader,
  keepLastCompactor,
  listGuard,
  MiddlewareError,
  type PermissionRule,
  type Plugin,
  type PluginHost,
  ReActAgent,
  type ReActAgentOptions,
  type ToolGuard,
  tool,
  toolResultsOf,
} from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { pairedModel } from "./valid-pairing.js";

function plugin(name: string, setup: (host: PluginHost) => void): Plugin {
  return definePlugin({ name, contract: 1, setup });
}

function agentWith(plugins: readonly Plugin[], more: Partial<ReActAgentOptions> = {}): ReActAgent {
  return new ReActAgent({ name: "a", model: pairedModel(() => "ok"), plugins, ...more });
}

function problemsOf(build: () => unknown): readonly string[] {
  try {
    build();
  } catch (error) {
    if (ConfigurationError.is(error)) return error.problems;
    throw error;
  }
  return [];
}

describe("a plugin", () => {
  test("of another contract is refused by name, by definePlugin and by the agent", () => {
    const foreign = { name: "from-the-future", contract: 2, setup: () => {} } as unknown as Plugin;
    expect(problemsOf(() => definePlugin(foreign))).toEqual([
      expect.stringContaining('plugin "from-the-future" was written for contract 2'),
    ]);
    expect(problemsOf(() => agentWith([foreign]))).toEqual([
      expect.stringContaining('plugin "from-the-future" was written for contract 2'),
    ]);
  });

  test("is told the agent's name and id", () => {
    const told: unknown[] = [];
    agentWith([plugin("p", (host) => told.push(host.agent))], { agentId: "id" });
    expect(told).toEqual([{ name: "a", agentId: "id" }]);
  });

  test("that throws in setup, and one used twice, are named", () => {
    const broken = plugin("broken", () => {
      throw new Error("no key");
    });
    const twice = plugin("twice", () => {});
    expect(problemsOf(() => agentWith([broken, twice, twice]))).toEqual([
      'plugin "broken": no key',
      'plugin "twice" is used twice',
    ]);
  });

  test("brings tools, and its name clashes are reported", async () => {
    const t = tool({ name: "t", description: "t", input: z.object({}), execute: () => "ran" });
    const model = pairedModel([{ toolCalls: [{ name: "t", input: {} }] }, "done"]);
    await agentWith([plugin("p", (host) => host.tool(t))], { model }).call("go");
    expect((model.requests[1]?.messages ?? []).flatMap(toolResultsOf)).toMatchObject([
      { name: "t", state: "success" },
    ]);
    expect(
      problemsOf(() => agentWith([plugin("p", (host) => host.tool(t))], { tools: [t] })),
    ).toEqual(['two tools are named "t"']);
  });
});

describe("ports", () => {
  const compactor = plugin("compactor", (host) =>
    host.provide("compactor", keepLastCompactor({ keepMessages: 2 })),
  );

  test.each(["before", "behind"])(
    "are there for a plugin that stands %s their provider",
    async (where) => {
      const results: unknown[] = [];
      const user = plugin("user", (host) => {
        const required = host.require("compactor");
        const optional = host.optional("compactor");
        host.use({
          name: "user",
          onCall: async ({ slot, state, ctx, signal, emit, mark }, next) => {
            const request = {
              ...{ slot, state, ctx, signal, emit, mark, model: pairedModel([]) },
              prompt: { system: "", tools: [] },
              isOverflow: () => false,
              cause: "manual",
              force: true,
              overrides: {},
              dropping: async () => {},
            } as const;
            results.push(await required.compact(request), typeof optional()?.compact);
            return next();
          },
        });
      });
      await agentWith(where === "before" ? [user, compactor] : [compactor, user]).call("hi");
      expect(results).toMatchObject([{ compacted: false }, "function"]);
    },
  );

  test("that nobody provides are problems naming every plugin and port; optional ones are not", () => {
    const needy = (name: string) =>
      plugin(name, (host) => {
        host.require("compactor");
        host.require("offloader");
        expect(host.optional("tokenCounter")()).toBeUndefined();
      });
    expect(problemsOf(() => agentWith([needy("p"), needy("q")]))).toEqual([
      'plugin "p" needs a compactor and nothing provides one',
      'plugin "p" needs an offloader and nothing provides one',
      'plugin "q" needs a compactor and nothing provides one',
      'plugin "q" needs an offloader and nothing provides one',
    ]);
  });

  test("may have one provider only, tool guards aside", () => {
    const second = plugin("second", (host) =>
      host.provide("compactor", keepLastCompactor({ keepMessages: 1 })),
    );
    expect(problemsOf(() => agentWith([compactor, second]))).toEqual([
      'plugins "compactor" and "second" both provide a compactor',
    ]);
    const guards = ["g1", "g2"].map((name) =>
      plugin(name, (host) => host.provide("toolGuard", listGuard({}))),
    );
    expect(problemsOf(() => agentWith(guards))).toEqual([]);
  });

  test("of a store may come from a plugin where the user passed none; what the user passed wins", async () => {
    const theirs = new InMemoryAgentStateStore();
    const keyValue = new InMemoryKeyValueStore();
    const seen: unknown[] = [];
    const provider = plugin("provider", (host) => {
      host.provide("stateStore", theirs);
      host.provide("keyValue", keyValue);
    });
    const reader = plugin("reader", (host) => {
      const ports = [host.optional("stateStore"), host.optional("keyValue"), host.optional("log")];
      host.onStart(async () => void seen.push(...ports.map((port) => port())));
    });
    await agentWith([provider, reader]).call("hi");
    expect(seen).toEqual([theirs, keyValue, theirs.companions().log]);
    expect((await theirs.list()).slots).toHaveLength(1);
    const mine = new InMemoryAgentStateStore();
    await agentWith([provider], { stateStore: mine }).call("hi");
    expect((await theirs.list()).slots).toHaveLength(1);
    expect((await mine.list()).slots).toHaveLength(1);
  });
});

describe("what a plugin registers is refused where it is registered, with the plugin and the method:", () => {
  const state = { schema: z.object({}), initial: () => ({}) };
  test.each<[string, (host: PluginHost) => void, RegExp]>([
    ["a section", (host) => host.promptSection("x" as never), /host\.promptSection needs a func/],
    [
      "a prefetch",
      (host) => host.promptSection((prompt) => prompt, 5 as never),
      /host\.promptSection needs a function, got 5/,
    ],
    ["a start", (host) => host.onStart(5 as never), /host\.onStart needs a function, got 5/],
    ["a close", (host) => host.onClose("x" as never), /host\.onClose needs a function, got "x"/],
    ["a health check", (host) => host.onHealth(null as never), /host\.onHealth needs a function/],
    ["a deletion", (host) => host.onDelete(5 as never), /host\.onDelete needs a function, got 5/],
    ["a source", (host) => host.toolSource([] as never), /host\.toolSource needs a function/],
    [
      "a check that returns nothing",
      (host) => host.onBuild(() => undefined as never),
      /onBuild did not return a list of texts; return \[\]/,
    ],
    [
      "a check that returns a text",
      (host) => host.onBuild(() => "bad thing" as never),
      /onBuild did not return a list of texts/,
    ],
    [
      "a guard without a check",
      (host) => host.provide("toolGuard", {} as never),
      /provides an object as toolGuard: it has no check/,
    ],
    [
      "a guard that is its check",
      (host) => host.provide("toolGuard", (() => ({ decision: "allow" })) as never),
      /provides a function as toolGuard: it is a function; pass \{ check \}/,
    ],
    [
      "a compactor that cannot compact",
      (host) => host.provide("compactor", {} as never),
      /provides an object as compactor: it has no compact/,
    ],
    ["a state of nothing", (host) => host.state({} as never), /host\.state needs \{ schema, initi/],
    [
      "a misspelt option of a state",
      (host) => host.state({ ...state, fork: false } as never),
      /host\.state was given the unknown option "fork"; did you mean forks\?/,
    ],
  ])("%s", (_, setup, expected) => {
    const problems = problemsOf(() => agentWith([plugin("p", setup)]));
    expect(problems).toEqual([expect.stringMatching(/^plugin "p"/)]);
    expect(problems[0]).toMatch(expected);
  });

  test("a source of what is no tool, when it is asked", async () => {
    const agent = agentWith([plugin("p", (host) => host.toolSource(() => [5] as never))]);
    const call = agent.call("hi");
    await expect(call).rejects.toThrow(
      /^plugin "p": toolSource returned something else than tools/,
    );
  });

  test("a question without its parts", async () => {
    const asked = plugin("p", (host) =>
      host.onStart(async () => void (await host.askModel({ purpose: "x" } as never))),
    );
    const call = agentWith([asked]).call("hi");
    await expect(call).rejects.toThrow(
      'plugin "p": host.askModel needs model, request, signal, from',
    );
  });
});

describe("a plugin that registers", () => {
  const late: readonly [string, (host: PluginHost) => void][] = [
    ["use", (host) => host.use({ name: "redaction", onIncoming: (message) => message })],
    [
      "tool",
      (host) =>
        host.tool(tool({ name: "t", description: "t", input: z.object({}), execute: () => "ran" })),
    ],
    ["toolSource", (host) => host.toolSource(() => [])],
    ["toolGroup", (host) => host.toolGroup({ name: "g" })],
    ["promptSection", (host) => host.promptSection((prompt) => prompt)],
    ["provide", (host) => host.provide("toolGuard", listGuard({}))],
    ["state", (host) => void host.state({ schema: z.object({}), initial: () => ({}) })],
    ["onDelete", (host) => host.onDelete(async () => {})],
  ];

  test.each(late)("host.%s in onStart fails the call, naming itself", async (method, register) => {
    const agent = agentWith([plugin("p", (host) => host.onStart(async () => register(host)))]);
    const call = agent.call("my address is secret");
    await expect(call).rejects.toThrow(
      `plugin "p" called host.${method} after its agent was built; register everything in setup`,
    );
    expect((await agent.sessions()).slots).toEqual([]);
  });

  test("in onBuild fails the build", () => {
    const p = plugin("p", (host) =>
      host.onBuild(() => {
        host.use({ name: "m" });
        return [];
      }),
    );
    expect(problemsOf(() => agentWith([p]))).toEqual([expect.stringContaining("host.use after")]);
  });
});

test("a model, what is no port and what is no implementation are refused by name", () => {
  const model = pairedModel([]);
  const wrong: readonly ((host: PluginHost) => void)[] = [
    (host) => host.provide("model" as never, model as never),
    (host) => host.provide("modle" as never, {} as never),
    (host) => host.provide("log", undefined as never),
  ];
  const plugins = wrong.map((setup, index) => plugin(`p${index}`, setup));
  expect(problemsOf(() => agentWith(plugins))).toEqual([
    expect.stringMatching(/^plugin "p0" provides a model, .* pass it as model, or .* onModelCall/),
    expect.stringMatching(/^plugin "p1" provides "modle", which is not a port; there are: stateS/),
    'plugin "p2" provides undefined as log; pass an implementation',
  ]);
});

test.each(["the user", "a plugin"])(
  "the tool to read offloaded content back is there, whether the offloader is %s's",
  async (whose) => {
    const offloader = new InMemoryOffloader();
    const model = pairedModel(["ok"]);
    const provider = plugin("p", (host) => host.provide("offloader", offloader));
    const agent =
      whose === "the user" ? agentWith([], { model, offloader }) : agentWith([provider], { model });
    await agent.call("hi");
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual([offloader.readBackTool.name]);
  },
);

describe("several tool guards", () => {
  const decide = (decision: "allow" | "ask" | "deny"): ToolGuard => ({
    check: () => (decision === "allow" ? { decision } : { decision, reason: `${decision}!` }),
  });
  const guarded = (guards: readonly ToolGuard[]) => {
    const t = tool({ name: "t", description: "t", input: z.object({}), execute: () => "ran" });
    const model = pairedModel([{ toolCalls: [{ name: "t", input: {} }] }, "done"]);
    const plugins = guards.map((guard, index) =>
      plugin(`g${index}`, (host) => host.provide("toolGuard", guard)),
    );
    return agentWith(plugins, { model, tools: [t] });
  };

  test.each([
    [["allow", "ask", "deny"], "deny"],
    [["deny", "ask", "allow"], "deny"],
    [["ask", "allow"], "ask"],
    [["allow", "ask"], "ask"],
    [["allow", "allow"], "allow"],
  ] as const)("%j come to %s", async (decisions, outcome) => {
    const agent = guarded(decisions.map(decide));
    const reply = await agent.call("go");
    const results = ((await agent.getAgentState())?.context ?? []).flatMap(toolResultsOf);
    expect(reply.reason).toBe(outcome === "ask" ? "permission_asking" : "stop");
    expect(results.map(({ state }) => state)).toEqual(
      outcome === "ask" ? [] : [outcome === "deny" ? "denied" : "success"],
    );
  });

  test("that ask show all their reasons and suggestions, each once", async () => {
    const rule = (name: string, pattern?: string) => ({ tool: name, ...(pattern && { pattern }) });
    const asking = (reason: string, ...suggestions: readonly PermissionRule[]): ToolGuard => ({
      check: () => ({ decision: "ask", reason, ...(suggestions.length > 0 && { suggestions }) }),
    });
    const agent = guarded([
      asking("It costs money.", rule("t"), rule("t", "a")),
      decide("allow"),
      asking("It is late.", rule("t", "a"), rule("t", "b")),
      asking("It costs money."),
    ]);
    const reply = await agent.call("go");
    const [pending] = "pending" in reply ? reply.pending : [];
    expect(pending).toMatchObject({
      reason: "It costs money.\nIt is late.",
      suggestions: [{ tool: "t" }, { tool: "t", pattern: "a" }, { tool: "t", pattern: "b" }],
    });
    const toolCallId = pending?.toolCallId ?? "";
    await agent.call({ confirm: [{ toolCallId, approve: true, remember: "session" }] });
    const remembered = await agent.rememberedRules({ sessionId: "default" });
    expect(remembered).toEqual(
      pending?.suggestions?.map((suggested) => ({ ...suggested, scope: "session" })),
    );
  });

  test.each<[unknown, RegExp]>([
    [
      { decision: "denied", reason: "no" },
      /"g0": toolGuard returned an unknown decision\. The tool/,
    ],
    [{ decision: "Deny", reason: "no" }, /an unknown decision/],
    [{ behavior: "deny" }, /an unknown decision/],
    [{}, /an unknown decision/],
    [true, /a boolean where a decision is needed/],
    ["deny", /a string where a decision is needed/],
    [undefined, /undefined where a decision is needed/],
    [null, /null where a decision is needed/],
    [{ decision: "deny" }, /"deny" without a reason/],
    [{ decision: "deny", reason: { why: "secret" } }, /"deny" without a reason/],
    [
      { decision: "ask", reason: "?", suggestions: "t" },
      /suggestions that are not a list of rules/,
    ],
    [{ decision: "ask", reason: "?", suggestions: [{ pattern: "x" }] }, /not a list of rules/],
  ])("that decide %j fail the call by name, and no tool runs", async (given, expected) => {
    const odd = { check: () => given } as unknown as ToolGuard;
    const agent = guarded([odd, decide("allow")]);
    const failing = agent.call("go");
    await expect(failing).rejects.toSatisfy(MiddlewareError.is);
    await expect(failing).rejects.toThrow(expected);
    await expect(failing).rejects.not.toThrow(/secret/);
    const results = ((await agent.getAgentState())?.context ?? []).flatMap(toolResultsOf);
    expect(results.map(({ state }) => state)).not.toContain("success");
  });

  test("are one guard to every plugin that requires it", async () => {
    const decisions: unknown[] = [];
    const t = tool({ name: "t", description: "t", input: z.object({}) });
    const user = plugin("user", (host) => {
      const guard = host.require("toolGuard");
      const optional = host.optional("toolGuard");
      host.use({
        name: "user",
        onCall: async ({ ctx, slot }, next) => {
          const call = { type: "tool_call", id: "1", name: "t", input: {} } as const;
          const remembered = async () => [];
          const guarded = { call, tool: t, input: {}, slot, ctx, remembered };
          decisions.push(await guard.check(guarded));
          decisions.push(await optional()?.check(guarded));
          return next();
        },
      });
    });
    const guards = [decide("ask"), decide("deny")].map((guard, index) =>
      plugin(`g${index}`, (host) => host.provide("toolGuard", guard)),
    );
    await agentWith([user, ...guards]).call("hi");
    expect(decisions).toMatchObject([{ decision: "deny" }, { decision: "deny" }]);
  });
});

describe("a plugin's life", () => {
  test("onStart runs once before the first call, also when the first calls come together", async () => {
    const trace: string[] = [];
    const p = plugin("p", (host) => {
      host.onStart(async () => {
        trace.push("starting");
        await new Promise((resolve) => setImmediate(resolve));
        trace.push("started");
      });
      host.use({
        name: "p",
        onCall: async (_, next) => {
          trace.push("call");
          return next();
        },
      });
    });
    const agent = agentWith([p]);
    expect(trace).toEqual([]);
    await Promise.all([1, 2, 3].map((n) => agent.call("hi", { sessionId: `${n}` })));
    await agent.ready();
    expect(trace).toEqual(["starting", "started", "call", "call", "call"]);
  });

  test.each([
    ["rejects", () => Promise.reject(new Error("not up"))],
    [
      "throws",
      () => {
        throw new Error("not up");
      },
    ],
  ])(
    "onStart that %s fails the call; the next tries again, without what has started",
    async (_, fail) => {
      const trace: string[] = [];
      let up = false;
      const first = plugin("first", (host) => host.onStart(async () => void trace.push("first")));
      const second = plugin("second", (host) =>
        host.onStart(() => (up ? Promise.resolve(void trace.push("second")) : fail())),
      );
      const model = pairedModel(() => "ok");
      const agent = agentWith([first, second], { model });
      await expect(agent.call("hi")).rejects.toThrow("not up");
      await expect(agent.ready()).rejects.toThrow("not up");
      expect(model.requests).toEqual([]);
      up = true;
      expect((await agent.call("hi")).text).toBe("ok");
      expect(trace).toEqual(["first", "second"]);
    },
  );

  test("onClose runs in reverse order, once, and one that fails does not keep the others open", async () => {
    const trace: string[] = [];
    const p = (name: string) =>
      plugin(name, (host) =>
        host.onClose(async () => {
          trace.push(name);
          if (name === "2") throw new Error("stuck");
        }),
      );
    const agent = agentWith([p("1"), p("2"), p("3")]);
    await expect(agent.close()).rejects.toThrow("stuck");
    await expect(agent.close()).rejects.toThrow("stuck");
    expect(trace).toEqual(["3", "2", "1"]);
    expect(agent.lifecycle).toBe("closed");
  });

  test("onDelete runs with the slot when a session is deleted, onDeleteUser with the user", async () => {
    const deleted: unknown[] = [];
    const p = plugin("p", (host) => {
      host.onDelete(async (slot) => void deleted.push(slot));
      host.onDeleteUser(async (userId) => void deleted.push(userId));
    });
    const agent = agentWith([p]);
    await agent.call("hi", { userId: "u", sessionId: "s" });
    expect(await agent.deleteSession("u", "s")).toBe(true);
    await agent.call("hi", { userId: "u", sessionId: "t" });
    await agent.deleteUser("u");
    expect(deleted).toEqual([
      { agentId: "a", userId: "u", sessionId: "s" },
      { agentId: "a", userId: "u", sessionId: "t" },
      "u",
    ]);
  });

  test("emit tells onEvent about background work, marked so", async () => {
    const events: AgentEvent[] = [];
    const slot = { agentId: "a", userId: null, sessionId: "s" };
    const p = plugin("p", (host) =>
      host.onStart(async () => host.emit(slot, "c", { type: "memory_flush_start" })),
    );
    const agent = agentWith([p], { onEvent: (event) => events.push(event) });
    await agent.ready();
    expect(events).toEqual([
      { type: "memory_flush_start", slot, callId: "c", seq: 0, background: true },
    ]);
  });
});
