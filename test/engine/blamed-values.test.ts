import {
  type AgentState,
  AgentState as AgentStates,
  definePlugin,
  InMemoryAgentStateStore,
  InvalidInputError,
  type JsonValue,
  ReActAgent,
  type ReActAgentOptions,
  StateCorruptError,
  StateTooLargeError,
  textOf,
  tool,
  userMessage,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agentOn } from "./agent-on.js";
import { keptStores, newStore } from "./kept-stores.js";

const ctx = { userId: "alice", sessionId: "s" };

/** Options of an agent whose one tool does something with the state; the model calls it once. */
function withTool(execute: (state: AgentState) => unknown): Partial<ReActAgentOptions> {
  return {
    model: scriptedModel([
      { toolCalls: [{ name: "plan", input: {} }] },
      ...Array.from({ length: 9 }, () => "ok"),
    ]),
    tools: [
      tool({
        name: "plan",
        description: "Plans.",
        input: z.object({}),
        execute: (_, { agentState }) => execute(agentState as AgentState),
      }),
    ],
  };
}

async function messageOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => new Error("it was accepted"),
    (reason: unknown) => reason,
  );
  expect(InvalidInputError.is(error), String(error)).toBe(true);
  return (error as Error).message;
}

describe.each(keptStores)("on %s", (kind) => {
  test("a section set to something else fails the tool, not the session", async () => {
    const store = await newStore(kind);
    const agent = agentOn(
      store,
      withTool((state) => {
        state.planModeContext = { active: "yes" } as never;
      }),
    );
    expect((await agent.call("go", ctx)).reason).toBe("stop");
    const state = (await agentOn(store).getAgentState(ctx)) as AgentState;
    const output = JSON.stringify(state.context.map(({ content }) => content));
    expect(output).toContain("state.planModeContext.active must be true or false, got a string");
    expect(state.planModeContext).toEqual({ active: false, planFile: null });
  });

  test("a section edited in place fails the call, which names tool, session, field and what is accepted", async () => {
    const store = await newStore(kind);
    const agent = agentOn(
      store,
      withTool((state) => {
        Object.assign(state.tasksContext, { tasks: [{ content: "secret", status: 5 }] });
        state.planModeContext.active = true;
      }),
    );
    const message = await messageOf(agent.call("go", ctx));
    expect(message).toMatch(
      /state\.tasksContext\.tasks\[0\]\.status must be a string, got a number/,
    );
    expect(message).toContain("tool plan");
    expect(message).toContain('session "s" of user "alice"');
    expect(message).not.toContain("secret");
    const state = (await agentOn(store).getAgentState(ctx)) as AgentState;
    expect(state.context.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(state.tasksContext).toEqual({ tasks: [] });
    expect(state.planModeContext.active, "what was right is kept").toBe(true);
    expect((await agent.call("and now?", ctx)).text).toBe("ok");
  });

  test("a call that failed so has its input in the session, and a repeat goes on with it", async () => {
    const store = await newStore(kind);
    let isBad = true;
    const agent = agentOn(store, {
      middleware: [
        {
          name: "careless",
          async onCall(step, next) {
            const reply = await next();
            if (isBad) Object.assign(step.state.permissionContext, { allow: ["x"] });
            return reply;
          },
        },
      ],
    });
    const named = { ...ctx, callId: "c1" };
    const error = await agent.call("do it", named).catch((reason: unknown) => reason);
    expect(InvalidInputError.is(error)).toBe(true);
    expect((error as { reply?: { text: string } }).reply?.text).toBe("ok");
    isBad = false;
    expect((await agent.call("do it", named)).text).toBe("ok");
    const state = await agent.getAgentState(ctx);
    expect(state?.context.filter((one) => textOf(one) === "do it")).toHaveLength(1);
  });

  test("a plugin's state that does not fit its schema is refused by set, by name of plugin and field", async () => {
    const store = await newStore(kind);
    const plugin = definePlugin({
      name: "budget",
      contract: 1,
      setup(host) {
        const state = host.state({
          schema: z.object({ spent: z.number() }),
          initial: () => ({ spent: 0 }),
        });
        host.use({
          name: "budget",
          async onCall(step, next) {
            state.get(step.state);
            state.set(step.state, { spent: "secret" } as never);
            return next();
          },
        });
      },
    });
    const message = await messageOf(agentOn(store, { plugins: [plugin] }).call("go", ctx));
    expect(message).toMatch(/plugin "budget" does not fit its schema \(spent: .*expected number/);
    expect(message).not.toContain("secret");
    expect((await agentOn(store).call("go on", ctx)).text).toBe("ok");
  });

  test("a plugin's state written past its accessor is checked before it is saved", async () => {
    const store = await newStore(kind);
    const plugin = definePlugin({
      name: "budget",
      contract: 1,
      setup(host) {
        host.state({ schema: z.object({ spent: z.number() }), initial: () => ({ spent: 0 }) });
      },
    });
    const agent = agentOn(store, {
      plugins: [plugin],
      ...withTool((state) => {
        state.extensions["budget"] = { spent: 5 };
        state.extensions["other"] = "kept";
      }),
    });
    expect(await messageOf(agent.call("go", ctx))).toMatch(/plugin "budget" has no version/);
    const state = (await agentOn(store).getAgentState(ctx)) as AgentState;
    expect(state.extensions).toEqual({ other: "kept" });
    expect((await agent.call("go on", ctx)).text).toBe("ok");
  });

  test("what makes the head too large is put back, and the rest of the call is kept", async () => {
    const store = await newStore(kind);
    const agent = agentOn(store, {
      limits: { headBytes: 4_000 },
      ...withTool((state) => {
        state.extensions["mine"] = "x".repeat(5_000);
      }),
    });
    await expect(agent.call("go", ctx)).rejects.toSatisfy(StateTooLargeError.is);
    const state = (await agentOn(store).getAgentState(ctx)) as AgentState;
    expect(state.context.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
    ]);
    expect(state.extensions).toEqual({});
    expect((await agent.call("go on", ctx)).text).toBe("ok");
  });

  test("a head just within its limit does not keep later calls from being saved", async () => {
    const store = await newStore(kind);
    const agent = agentOn(store, { limits: { headBytes: 4_000 }, persistence: "step" });
    await agent.updateAgentState(ctx, (state) => {
      state.extensions["mine"] = "x".repeat(3_200);
    });
    for (const callId of ["1", "2", "3", "4", "5", "6", "7", "8"])
      expect((await agent.call("go", { ...ctx, callId })).text).toBe("ok");
  });

  test("an edit that is wrong is blamed, and nothing of it is saved", async () => {
    const store = await newStore(kind);
    const agent = agentOn(store);
    await agent.call("hello", ctx);
    const before = (await agent.getAgentState(ctx))?.toJsonString();
    const wrong: readonly ((state: AgentState) => unknown)[] = [
      (state) => Object.assign(state.planModeContext, { active: 1 }),
      (state) => Object.assign(state.permissionContext, { mode: undefined }),
      (state) => state.contextMutable().push(Object.freeze({ role: "user" }) as never),
      (state) => {
        const other = AgentStates.fromJson(state.toJSON());
        Object.assign(other.toolContext, { activatedGroups: "all" });
        return other;
      },
      (state) => {
        const head = () => ({ ...state.head(), tasksContext: 5 }) as never;
        const { sessionId, userId, context } = state;
        return { sessionId, userId, context, head, contextMutable: () => state.contextMutable() };
      },
    ];
    for (const edit of wrong) {
      const message = await messageOf(agent.updateAgentState(ctx, edit));
      expect(message).not.toMatch(/damaged|corrupt/i);
      expect((await agentOn(store).getAgentState(ctx))?.toJsonString()).toBe(before);
    }
    const document = (state: AgentState) => state.toJSON();
    expect(await messageOf(agent.updateAgentState(ctx, document))).toContain("AgentState.fromJson");
    expect(await messageOf(agent.updateAgentState(ctx, "edit" as never))).toContain("a function");
    expect((await agent.call("go on", ctx)).text).toBe("ok");
  });
});

describe("answers of a person", () => {
  async function asking() {
    const store = new InMemoryAgentStateStore();
    const agent = agentOn(store, {
      ...withTool(() => "planned"),
      plugins: [
        definePlugin({
          name: "asker",
          contract: 1,
          setup: (host) =>
            host.provide("toolGuard", {
              check: () => ({ decision: "ask", reason: "sure?" }),
              ruleProblem: ({ tool }) => (tool === "plan" ? null : `there is no tool ${tool}`),
            }),
        }),
      ],
    });
    const reply = await agent.call("go", ctx);
    if (reply.reason !== "permission_asking") throw new Error("it did not ask");
    return { agent, toolCallId: reply.pending[0]?.toolCallId as string };
  }

  test.each<[string, unknown, RegExp]>([
    ["a rule that is a text", ["x"], /remember\.rules\[0\] must be an object, got a string/],
    ["a rule without a tool", [{}], /remember\.rules\[0\]\.tool must be a string, got nothing/],
    ["a rule with a wrong pattern", [{ tool: "t", pattern: 5 }], /remember\.rules\[0\]\.pattern/],
    ["a rule no guard knows", [{ tool: "t" }], /there is no tool t/],
  ])("remember: %s is refused, and the question still waits", async (_, remember, expected) => {
    const { agent, toolCallId } = await asking();
    const wanted = { scope: "session", rules: remember };
    const confirm = [{ toolCallId, approve: true, remember: wanted }] as never;
    expect(await messageOf(agent.call({ confirm }, ctx))).toMatch(expected);
    const allowed = { confirm: [{ toolCallId, approve: true }] };
    expect((await agent.call(allowed, ctx)).text).toBe("ok");
  });

  test.each<[string, unknown, RegExp]>([
    ["a word", "always", /remember takes "session", "user" or \{ scope, rules/],
    ["a flag", true, /remember takes "session", "user" or \{ scope, rules/],
    [
      "a scope that is none",
      { scope: "world", rules: [] },
      /remember\.scope must be session or user/,
    ],
    ["a misspelt field", { scop: "session", rules: [] }, /did you mean scope\?/],
    ["what is not suggested", "session", /the guard suggests no rule/],
  ])("remember: %s is refused, and nothing is remembered", async (_, remember, expected) => {
    const { agent, toolCallId } = await asking();
    const confirm = [{ toolCallId, approve: true, remember }] as never;
    expect(await messageOf(agent.call({ confirm }, ctx))).toMatch(expected);
    expect(await agent.rememberedRules(ctx)).toEqual([]);
    const allowed = { confirm: [{ toolCallId, approve: true }] };
    expect((await agent.call(allowed, ctx)).text).toBe("ok");
  });

  test.each<[string, unknown, RegExp]>([
    ["an unknown field", { approve: true, remeber: true }, /"remeber"; did you mean remember\?/],
    ["a reason that is no text", { approve: false, reason: 5 }, /reason must be a string/],
    ["no decision", { aprove: true }, /"aprove"; did you mean approve\?/],
  ])("with %s are refused", async (_, answer, expected) => {
    const { agent, toolCallId } = await asking();
    const confirm = [{ toolCallId, ...(answer as object) }] as never;
    expect(await messageOf(agent.call({ confirm }, ctx))).toMatch(expected);
  });

  test("results say in which field they are wrong", async () => {
    const { agent, toolCallId } = await asking();
    const results = (entry: object) =>
      messageOf(agent.call({ results: [{ toolCallId, ...entry }] } as never, ctx));
    expect(await results({})).toMatch(/the output of tool call .* is undefined/);
    expect(await results({ output: 1n })).toMatch(/is a bigint/);
    expect(await results({ output: "x", state: "fine" })).toMatch(/state must be success, error/);
    expect(await results({ output: "x", status: "success" })).toMatch(/did you mean state\?/);
  });

  test("an interrupt takes what a call takes, within the same bounds", async () => {
    const agent = new ReActAgent({
      name: "a",
      model: scriptedModel([]),
      limits: { messageBytes: 500 },
    });
    const interrupt = (message: unknown) => agent.interrupt("alice", "s", message as string);
    expect(await messageOf(interrupt({ role: "user", content: "stop" }))).toContain("userMessage");
    expect(await messageOf(interrupt({ ...userMessage("x"), role: "system" }))).toContain("system");
    expect(await messageOf(interrupt([userMessage("x")]))).toContain("one message");
    await expect(interrupt("x".repeat(1_000))).rejects.toSatisfy(StateTooLargeError.is);
  });
});

describe("state.context", () => {
  test("cannot be written: a write throws, and this process and the store agree", async () => {
    const store = new InMemoryAgentStateStore();
    const writes: readonly ((context: unknown[]) => void)[] = [
      (context) => void Object.assign(context, { 0: "x" }),
      (context) => void Object.assign(context, { length: 0 }),
      (context) => void context.push("x"),
      (context) => void context.splice(0, 1),
      (context) => void context.sort(),
    ];
    const thrown: unknown[] = [];
    const agent = agentOn(
      store,
      withTool((state) => {
        for (const write of writes)
          try {
            write(state.context as unknown[]);
          } catch (error) {
            thrown.push(error);
          }
      }),
    );
    await agent.call("hello", ctx);
    expect(thrown).toHaveLength(writes.length);
    expect(thrown.every((error) => error instanceof TypeError)).toBe(true);
    const [here, there] = [await agent.getAgentState(ctx), await agentOn(store).getAgentState(ctx)];
    expect(here?.toJsonString()).toBe(there?.toJsonString());
    expect(here?.context).toHaveLength(4);
  });

  test("shows an edit when it is read again, and what was read before stays as it was", () => {
    const state = AgentStates.create({ sessionId: "s" });
    const before = state.context;
    state.contextMutable().push(userMessage("one"));
    const after = state.context;
    expect(before).toHaveLength(0);
    expect(after).toHaveLength(1);
    expect(state.context, "not copied again").toBe(after);
    expect(Object.isFrozen(after)).toBe(true);
  });

  test("is not the list of a request: a hook may do with that what it likes", async () => {
    const store = new InMemoryAgentStateStore();
    const agent = agentOn(store, {
      middleware: [
        {
          name: "cutter",
          onModelCall(step, next) {
            (step.request.messages as unknown[]).length = 0;
            return next();
          },
        },
      ],
    });
    await agent.call("hello", ctx);
    expect((await agent.getAgentState(ctx))?.context).toHaveLength(2);
  });
});

test("a mark that the log could not keep is refused where it is made", async () => {
  const details: unknown[] = [1n, "text", { n: Number.NaN }];
  const agent = new ReActAgent({
    name: "a",
    model: scriptedModel(() => "ok"),
    middleware: [
      {
        name: "marker",
        async onCall(step, next) {
          for (const one of details)
            expect(() => step.mark({ name: "mine", details: one as { n: JsonValue } })).toThrow(
              InvalidInputError,
            );
          expect(() => step.mark({ name: "" })).toThrow(InvalidInputError);
          return next();
        },
      },
    ],
  });
  expect((await agent.call("hello", ctx)).text).toBe("ok");
});

test("a stored state of a plugin that does not fit says how to repair it", async () => {
  const store = new InMemoryAgentStateStore();
  await agentOn(store).updateAgentState(ctx, (state) => {
    state.extensions["budget"] = { version: 1, value: "x" };
  });
  const agent = agentOn(store, {
    plugins: [
      definePlugin({
        name: "budget",
        contract: 1,
        setup(host) {
          const state = host.state({
            schema: z.object({ spent: z.number() }),
            initial: () => ({ spent: 0 }),
          });
          host.use({
            name: "budget",
            onCall: (step, next) => {
              state.get(step.state);
              return next();
            },
          });
        },
      }),
    ],
  });
  const error = await agent.call("go", ctx).catch((reason: unknown) => reason);
  expect(StateCorruptError.is(error)).toBe(true);
  expect(String(error)).toMatch(
    /updateAgentState: set state\.extensions\["budget"\], or delete it/,
  );
  await agent.updateAgentState(ctx, (state) => {
    delete state.extensions["budget"];
  });
  expect((await agent.call("go", ctx)).text).toBe("ok");
});
