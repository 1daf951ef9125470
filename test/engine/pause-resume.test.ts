import {
  type AgentReply,
  type Confirmation,
  definePlugin,
  InMemoryAgentStateStore,
  InvalidInputError,
  type LogRecord,
  listGuard,
  type Middleware,
  type PendingCall,
  PendingConfirmationError,
  ReActAgent,
  type ReActAgentOptions,
  type ToolGuard,
  textOf,
  tool,
  toolCallsOf,
  toolResultsOf,
} from "@holdfast/core";
import { loadWhole } from "@holdfast/core/store-kit";
import type { ScriptedReply } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { pairedModel, stateProblem } from "./valid-pairing.js";

const sent: string[] = [];
const send = tool({
  name: "send",
  description: "Sends a mail.",
  input: z.object({ to: z.string() }),
  execute: ({ to }) => {
    sent.push(to);
    return `sent to ${to}`;
  },
});
const look = tool({
  name: "look",
  description: "Looks something up.",
  input: z.object({}),
  execute: () => {
    sent.push("looked");
    return "found";
  },
});

const sending = (...to: readonly string[]) =>
  to.map((name) => ({ name: "send", input: { to: name } }));

function guardedBy(guard: ToolGuard) {
  return definePlugin({
    name: "guard",
    contract: 1,
    setup: (host) => host.provide("toolGuard", guard),
  });
}

function pendingOf(reply: AgentReply): readonly PendingCall[] {
  if (reply.reason !== "permission_asking") throw new Error(`not asking but ${reply.reason}`);
  return reply.pending;
}

describe.each([true, false])("a tool call that asks, fused: %s", (fused) => {
  /** A session that waits for answers about these calls, and agents over its store. */
  async function asking(
    toolCalls: readonly { readonly name: string; readonly input: object }[],
    guard: ToolGuard = listGuard({ ask: ["send"] }),
    options: Partial<ReActAgentOptions> = {},
  ) {
    sent.length = 0;
    const stateStore = new InMemoryAgentStateStore({ fused });
    const model = pairedModel([{ toolCalls } as ScriptedReply, "done", "more"]);
    const make = () =>
      new ReActAgent({
        name: "a",
        model,
        tools: [send, look],
        plugins: [guardedBy(guard)],
        stateStore,
        ...options,
      });
    const agent = make();
    const reply = await agent.call("go", { sessionId: "s" });
    const pending = pendingOf(reply);
    const confirm = (
      answers: readonly Partial<Confirmation>[],
      by: ReActAgent = agent,
    ): Promise<AgentReply> => {
      const list = answers.map((answer, index) => ({
        toolCallId: pending[index]?.toolCallId ?? "",
        approve: true,
        ...answer,
      }));
      return by.call({ confirm: list }, { sessionId: "s" });
    };
    const results = async () =>
      ((await agent.getAgentState(null, "s"))?.context ?? [])
        .flatMap(toolResultsOf)
        .map(({ state, output }) => [state, output[0]?.type === "text" ? output[0].text : ""]);
    /** Everything that is stored about the session. */
    const stored = async () => {
      const slot = { agentId: "a", userId: null, sessionId: "s" };
      const records = await stateStore.companions().log.read(slot);
      return JSON.stringify([await loadWhole(stateStore, slot), records]);
    };
    return { agent, make, model, reply, pending, confirm, results, stored, stateStore };
  }

  test("ends the turn with what it asks; a sibling that may run has run", async () => {
    const { agent, reply, pending } = await asking([
      ...sending("ann"),
      { name: "look", input: {} },
    ]);
    expect(reply.reason).toBe("permission_asking");
    expect(toolCallsOf(reply.message)).toHaveLength(2);
    expect(pending).toEqual([
      {
        toolCallId: toolCallsOf(reply.message)[0]?.id,
        name: "send",
        input: { to: "ann" },
        state: "asking",
        reason: 'Tool "send" needs approval.',
        suggestions: [{ tool: "send", text: "Always allow send", broad: true }],
      },
    ]);
    expect(sent).toEqual(["looked"]);
    const state = await agent.getAgentState(null, "s");
    expect(state && stateProblem(state)).toBeNull();
    expect(Object.values(state?.openCalls ?? {})).toEqual(["asking"]);
  });

  test.each(["same", "other"])(
    "runs when approved, by the %s agent, and its siblings ran once before it",
    async (by) => {
      const { agent, make, model, confirm, results } = await asking([
        ...sending("ann"),
        { name: "look", input: {} },
        { name: "look", input: { unexpected: 1 } },
      ]);
      const reply = await confirm([{}], by === "same" ? agent : make());
      expect(reply).toMatchObject({ reason: "stop", text: "done" });
      expect(sent).toEqual(["looked", "looked", "ann"]);
      expect(await results()).toEqual([
        ["success", "found"],
        ["success", "found"],
        ["success", "sent to ann"],
      ]);
      expect(model.requests).toHaveLength(2);
      const state = await make().getAgentState(null, "s");
      expect(state && stateProblem(state)).toBeNull();
      expect((await make().call("and now?", { sessionId: "s" })).text).toBe("more");
      expect(sent).toHaveLength(3);
    },
  );

  test("does not run when denied; the model is told, with the person's reason; siblings have run", async () => {
    const { confirm, results } = await asking([...sending("ann"), { name: "look", input: {} }]);
    const reply = await confirm([{ approve: false, reason: "Ann is on holiday." }]);
    expect(reply.text).toBe("done");
    expect(sent).toEqual(["looked"]);
    expect(await results()).toEqual([
      ["success", "found"],
      ["denied", "The user denied this call. Ann is on holiday."],
    ]);
  });

  test("runs with the input the person put in place of the model's, and the context says so", async () => {
    const { make, confirm, pending, results } = await asking(sending("ann", "bob"));
    await confirm([{ input: { to: "carl" } }, {}], make());
    expect(sent).toEqual(["carl", "bob"]);
    expect(await results()).toEqual([
      ["success", "sent to carl"],
      ["success", "sent to bob"],
    ]);
    const state = await make().getAgentState(null, "s");
    const caller = state?.context[1];
    expect(caller && toolCallsOf(caller).map(({ id, input }) => [id, input])).toEqual([
      [pending[0]?.toolCallId, { to: "carl" }],
      [pending[1]?.toolCallId, { to: "bob" }],
    ]);
    expect(caller?.metadata?.["editedCalls"]).toEqual([pending[0]?.toolCallId]);
    expect(caller?.metadata?.["providerCallIds"]).toBeDefined();
  });

  test("runs with the person's input also when several of one message are edited, and the log has it", async () => {
    const { agent, confirm, stored, results } = await asking(sending("ann", "bob", "carl"));
    await confirm([{ input: { to: "xena" } }, { input: { to: "yuri" } }, { approve: false }]);
    expect(sent).toEqual(["xena", "yuri"]);
    expect((await results()).map(([state]) => state).toSorted()).toEqual([
      "denied",
      "success",
      "success",
    ]);
    const state = await agent.getAgentState(null, "s");
    const caller = state?.context[1];
    expect(caller && toolCallsOf(caller).map(({ input }) => input)).toEqual([
      { to: "xena" },
      { to: "yuri" },
      { to: "carl" },
    ]);
    const [, records] = JSON.parse(await stored()) as [unknown, LogRecord[]];
    const mark = records.find((record) => record.mark?.name === "confirm")?.mark;
    expect(Object.values(mark?.details?.["edited"] ?? {})).toEqual([
      { to: "xena" },
      { to: "yuri" },
    ]);
  });

  test("is not run when its guard fails; the call fails and the state is valid", async () => {
    let broken = false;
    const guard: ToolGuard = {
      check: () => {
        if (broken) throw new Error("no rules");
        return { decision: "ask", reason: "May I?" };
      },
    };
    const { agent, confirm } = await asking(sending("ann"), guard);
    broken = true;
    await expect(confirm([{}])).rejects.toThrow("no rules");
    expect(sent).toEqual([]);
    const state = await agent.getAgentState(null, "s");
    expect(state && stateProblem(state)).toBeNull();
  });

  test("whose edited input is invalid is answered with what is wrong", async () => {
    const { confirm, results } = await asking(sending("ann"));
    expect((await confirm([{ input: { to: 5 } }])).text).toBe("done");
    expect(sent).toEqual([]);
    expect(await results()).toEqual([
      ["error", expect.stringContaining("Invalid input for send: to:")],
    ]);
  });

  test.each([true, false])(
    "runs once it is approved, and the model waits while others still ask, approve: %s",
    async (approve) => {
      const { make, model, confirm, pending } = await asking([
        ...sending("ann", "bob"),
        { name: "look", input: {} },
      ]);
      const partial = await confirm([{ approve }], make());
      expect(partial.reason).toBe("permission_asking");
      expect(pendingOf(partial)).toMatchObject([
        { toolCallId: pending[1]?.toolCallId, name: "send", input: { to: "bob" }, state: "asking" },
      ]);
      expect(sent).toEqual(approve ? ["looked", "ann"] : ["looked"]);
      expect(model.requests).toHaveLength(1);
      const state = await make().getAgentState(null, "s");
      expect(state && stateProblem(state)).toBeNull();
      await expect(make().call("hello?", { sessionId: "s" })).rejects.toSatisfy(
        PendingConfirmationError.is,
      );
      const reply = await make().call(
        { confirm: [{ toolCallId: pending[1]?.toolCallId ?? "", approve: true }] },
        { sessionId: "s" },
      );
      expect(reply.text).toBe("done");
      expect(sent).toEqual(approve ? ["looked", "ann", "bob"] : ["looked", "bob"]);
    },
  );

  test("refuses plain input, naming the calls, and nothing changes", async () => {
    const { make, model, pending, stored } = await asking(sending("ann", "bob"));
    const before = await stored();
    for (const agent of [make(), make()])
      await expect(agent.call("hello?", { sessionId: "s" })).rejects.toMatchObject({
        code: "PENDING_CONFIRMATION",
        toolCallIds: pending.map(({ toolCallId }) => toolCallId),
      });
    expect(await stored()).toBe(before);
    expect(model.requests).toHaveLength(1);
  });

  test.each<[string, readonly Partial<Confirmation>[]]>([
    ["an unknown id", [{}, { toolCallId: "nobody" }]],
    ["an id twice", [{}, {}]],
    ["an input JSON cannot hold", [{ approve: false }, { input: Number.NaN }]],
    ["no id", [{ toolCallId: undefined as unknown as string }]],
  ])("refuses answers with %s, and nothing changes", async (_, answers) => {
    const { agent, make, confirm, pending, stored } = await asking(sending("ann", "bob"));
    const before = await stored();
    const same = answers.length === 2 && Object.keys(answers[1] ?? {}).length === 0;
    const twice = same
      ? answers.map(() => ({ toolCallId: pending[0]?.toolCallId ?? "" }))
      : answers;
    for (const by of [agent, make()])
      await expect(confirm(twice, by)).rejects.toSatisfy(InvalidInputError.is);
    expect(await stored()).toBe(before);
    expect(sent).toEqual([]);
    expect((await confirm([{}, {}])).text).toBe("done");
    expect(sent).toEqual(["ann", "bob"]);
  });

  test("cannot be confirmed twice, nor answered by results", async () => {
    const { agent, confirm, pending } = await asking(sending("ann"));
    const results = [{ toolCallId: pending[0]?.toolCallId ?? "", output: "x" }];
    await expect(agent.call({ results }, { sessionId: "s" })).rejects.toSatisfy(
      InvalidInputError.is,
    );
    await confirm([{}]);
    await expect(confirm([{}])).rejects.toSatisfy(InvalidInputError.is);
    expect(sent).toEqual(["ann"]);
  });

  test("that the guard denies after all does not run though approved", async () => {
    let denied = false;
    const guard: ToolGuard = {
      check: () => ({
        decision: denied ? "deny" : "ask",
        reason: denied ? "Mail is off." : "May I?",
      }),
    };
    const { confirm, results } = await asking(sending("ann"), guard);
    denied = true;
    expect((await confirm([{}])).text).toBe("done");
    expect(sent).toEqual([]);
    expect(await results()).toEqual([["denied", "Mail is off."]]);
  });

  test.each([
    ["session", [{ tool: "send", pattern: "ann", scope: "session" }]],
    [{ scope: "session", rules: [{ tool: "send" }] }, [{ tool: "send", scope: "session" }]],
    [undefined, []],
  ] as const)("with remember: %j the session remembers %j", async (remember, expected) => {
    const guard: ToolGuard = {
      check: ({ call }) => ({
        decision: "ask",
        reason: "May I?",
        suggestions: [{ tool: "send", pattern: (call.input as { to: string }).to }],
      }),
    };
    const { agent, make, confirm, pending } = await asking(sending("ann"), guard);
    expect(pending[0]?.suggestions).toEqual([{ tool: "send", pattern: "ann" }]);
    await confirm([{ remember }]);
    expect(await make().rememberedRules(null, "s")).toEqual(expected);
    const removed = await make().forgetRules(null, "s", { scope: "session" });
    expect(removed).toBe(expected.length);
    expect(await agent.rememberedRules(null, "s")).toEqual([]);
  });

  test("cannot be remembered for the user where there is none; nothing changes", async () => {
    const { agent, confirm, stored } = await asking(sending("ann"));
    const before = await stored();
    await expect(confirm([{ remember: "user" }])).rejects.toThrow(/has no userId/);
    expect(await stored()).toBe(before);
    expect(await agent.rememberedRules(null, "s")).toEqual([]);
  });

  test("is denied by a new message where the caller wants that; the model sees both", async () => {
    const { make, model, results } = await asking([...sending("ann"), { name: "look", input: {} }]);
    const reply = await make().call("Do not.", { sessionId: "s", onPending: "deny" });
    expect(reply.text).toBe("done");
    expect(sent).toEqual(["looked"]);
    expect(await results()).toEqual([
      ["success", "found"],
      ["denied", "Not run: the user answered with a new message instead."],
    ]);
    const last = model.requests.at(-1)?.messages.at(-1);
    expect(last && textOf(last)).toBe("Do not.");
  });

  test("denied with interrupt ends the turn: nothing else runs, and the model is not asked", async () => {
    const { make, model, confirm, results } = await asking(sending("ann", "bob"));
    const reply = await confirm([{ approve: false, reason: "Stop it.", interrupt: true }], make());
    expect(reply.reason).toBe("interrupted");
    expect(sent).toEqual([]);
    expect(model.requests).toHaveLength(1);
    expect((await results()).map(([state]) => state)).toEqual(["denied", "interrupted"]);
    const state = await make().getAgentState(null, "s");
    expect(state && stateProblem(state)).toBeNull();
    expect((await make().call("and now?", { sessionId: "s" })).text).toBe("done");
  });

  test("is listed by agent.pending in any process, with what the reply said", async () => {
    const { make, pending, confirm } = await asking([...sending("ann", "bob")]);
    expect(await make().pending(null, "s")).toEqual(pending);
    expect(await make().pending(null, "other")).toEqual([]);
    await confirm([{}]);
    expect(await make().pending({ sessionId: "s" })).toEqual(pending.slice(1));
  });

  test("answers at once what cannot run or is denied, before the person is asked about the rest", async () => {
    const { confirm, pending, results } = await asking(
      [
        { name: "send", input: { to: 5 } },
        { name: "look", input: {} },
        { name: "missing", input: {} },
        ...sending("ann"),
      ],
      listGuard({ ask: ["send"], deny: ["look"] }),
    );
    expect(pending.map(({ input }) => input)).toEqual([{ to: "ann" }]);
    expect((await results()).map(([state]) => state)).toEqual(["error", "denied", "error"]);
    expect((await confirm([{}])).text).toBe("done");
    expect((await results()).map(([state]) => state)).toEqual([
      "error",
      "denied",
      "error",
      "success",
    ]);
  });

  test("closed before there was an answer says that it was not run; what its siblings did stays", async () => {
    const calls = [...sending("ann"), { name: "look", input: {} }];
    const { agent, results } = await asking(calls);
    expect(await agent.interrupt(null, "s")).toBe("closed_asks");
    expect(await results()).toEqual([
      ["success", "found"],
      ["interrupted", expect.stringMatching(/^This call was not run: it asked for an approval/)],
    ]);
    expect(sent).toEqual(["looked"]);
  });

  test("closed behind an approval whose process died says that its outcome is unknown", async () => {
    const { agent, results, pending, stateStore } = await asking(sending("ann"));
    const confirm = [{ toolCallId: pending[0]?.toolCallId ?? "", approve: true }];
    await stateStore.inbox.put(
      { agentId: "a", userId: null, sessionId: "s" },
      {
        ...{ id: "run", kind: "input", callId: "dead", at: new Date().toISOString() },
        body: { input: { kind: "confirm", confirm } },
      },
    );
    await agent.interrupt(null, "s");
    expect(await results()).toEqual([["interrupted", expect.stringContaining("unknown")]]);
  });

  test("is named with its tool in the refusal of plain input; siblings are not", async () => {
    const calls = [{ name: "look", input: {} }, ...sending("ann")];
    const { agent, pending, confirm } = await asking(calls);
    const error = await agent.call("hello?", { sessionId: "s" }).catch((reason) => reason);
    expect(error.toolCallIds).toEqual([pending[0]?.toolCallId]);
    expect(error.message).toContain(`an approval of send (${pending[0]?.toolCallId})`);
    expect(error.message).not.toContain("look");
    // Every one that is named can be confirmed.
    await confirm(error.toolCallIds.map((toolCallId: string) => ({ toolCallId })));
    expect(sent).toEqual(["looked", "ann"]);
  });

  test("keeps its reason and suggestions when only others are confirmed, and when the call is repeated", async () => {
    const suggestions = [{ tool: "send", behavior: "allow" as const }];
    const guard: ToolGuard = {
      check: async ({ call }) =>
        call.name === "send"
          ? { decision: "ask", reason: "Mails leave the house.", suggestions }
          : { decision: "allow" },
    };
    const calls = [...sending("ann", "bob"), { name: "look", input: {} }];
    const { confirm } = await asking(calls, guard);
    const asks = { state: "asking", reason: "Mails leave the house.", suggestions };
    expect(pendingOf(await confirm([{}]))).toMatchObject([{ input: { to: "bob" }, ...asks }]);
    const agent = new ReActAgent({
      name: "a",
      model: pairedModel([{ toolCalls: calls } as ScriptedReply]),
      tools: [send, look],
      plugins: [guardedBy(guard)],
      stateStore: new InMemoryAgentStateStore({ fused }),
    });
    const named = () => agent.call("go", { sessionId: "t", callId: "mine" });
    const first = pendingOf(await named());
    expect(first).toMatchObject([asks, asks]);
    expect(pendingOf(await named())).toEqual(first);
  });

  test("is closed by an interrupt of the idle session; the message is there and the next call works", async () => {
    const { agent, make, model, results } = await asking([
      ...sending("ann"),
      { name: "look", input: {} },
    ]);
    expect(await make().interrupt(null, "s", "Never mind.")).toBe("closed_asks");
    expect((await results()).map(([state]) => state)).toEqual(["success", "interrupted"]);
    const state = await agent.getAgentState(null, "s");
    expect(state && stateProblem(state)).toBeNull();
    expect(state?.openCalls).toEqual({});
    expect(await agent.interrupt(null, "s")).toBe(false);
    expect((await agent.call("What else?", { sessionId: "s" })).text).toBe("done");
    expect(model.requests[1]?.messages.filter(({ role }) => role === "user").map(textOf)).toEqual([
      "go",
      "Never mind.",
      "What else?",
    ]);
    expect(sent).toEqual(["looked"]);
  });

  test("runs, with step saves, before the model is asked again: what it did is stored by then", async () => {
    const guard = listGuard({ ask: ["send"] });
    const stored: unknown[] = [];
    const stateStore = new InMemoryAgentStateStore({ fused });
    const slot = { agentId: "a", userId: null, sessionId: "s" };
    const watching: Middleware = {
      name: "watching",
      async *onModelCall(_, next) {
        const loaded = await loadWhole(stateStore, slot);
        if (loaded !== null)
          stored.push(loaded.messages.flatMap(toolResultsOf).map(({ state }) => state));
        yield* next();
      },
    };
    const { confirm } = await asking(sending("ann"), guard, {
      stateStore,
      persistence: "step",
      middleware: [watching],
    });
    await confirm([{}]);
    // The first request comes before any tool; where the gate did not keep the input, that was saved ahead of it.
    expect(stored).toEqual([...(fused ? [] : [[]]), ["success"]]);
  });

  test("heeds a middleware's stop when it runs after all", async () => {
    const { model, confirm, agent } = await asking(sending("ann"), undefined, {
      middleware: [
        {
          name: "stopper",
          onActing: async (step, next) => {
            step.stop();
            return next();
          },
        },
      ],
    });
    const reply = await confirm([{}]);
    expect(reply.reason).toBe("middleware_stop");
    expect(toolCallsOf(reply.message)).toHaveLength(1);
    expect(sent).toEqual(["ann"]);
    expect(model.requests).toHaveLength(1);
    const state = await agent.getAgentState(null, "s");
    expect(state && stateProblem(state)).toBeNull();
  });
});

test("nothing to confirm is an InvalidInputError, on a new session too", async () => {
  const agent = new ReActAgent({ name: "a", model: pairedModel(["ok"]) });
  const confirm = [{ toolCallId: "x", approve: true }];
  await expect(agent.call({ confirm })).rejects.toSatisfy(InvalidInputError.is);
  expect(await agent.getAgentState()).toBeNull();
  await agent.call("hi");
  await expect(agent.call({ confirm })).rejects.toSatisfy(InvalidInputError.is);
});
