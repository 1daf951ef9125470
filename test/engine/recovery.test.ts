import {
  type AgentEvent,
  type AgentState,
  assistantMessage,
  InMemoryAgentStateStore,
  InProcessSessionGate,
  type Lease,
  LeaseLostError,
  listGuard,
  type Message,
  PendingConfirmationError,
  ReActAgent,
  type ReActAgentOptions,
  type SessionGate,
  type StateEdit,
  tool,
  toolResultMessage,
  userMessage,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { expectPaired, logged, logRecords, outcomes, outline, slotOf } from "./conversation.js";
import { door } from "./door.js";

const ctx = { sessionId: "s" };
const call = (id: string, name = "work") => ({ type: "tool_call" as const, id, name, input: {} });
const result = (callId: string) =>
  toolResultMessage({
    type: "tool_result",
    callId,
    name: "work",
    output: [{ type: "text", text: `result of ${callId}` }],
    state: "success",
  });

describe.each([true, false])("what a crash left, fused: %s", (fused) => {
  const agentOn = (stateStore: InMemoryAgentStateStore, options: Partial<ReActAgentOptions> = {}) =>
    new ReActAgent({ name: "a", model: scriptedModel(() => "ok"), stateStore, ...options });

  /** A store that holds exactly these messages and open calls. */
  async function leave(
    messages: readonly Message[],
    openCalls: AgentState["openCalls"] = {},
  ): Promise<InMemoryAgentStateStore> {
    const store = new InMemoryAgentStateStore({ fused });
    const edit: StateEdit = (state) => {
      state.contextMutable().push(...messages);
      state.openCalls = openCalls;
    };
    await agentOn(store).updateAgentState(null, "s", edit);
    return store;
  }

  test("an open call that is not listed is repaired, with an event, and the session goes on", async () => {
    const store = await leave([
      userMessage("go"),
      assistantMessage([call("1"), call("2")]),
      result("1"),
    ]);
    const events: AgentEvent[] = [];
    const model = scriptedModel(["on"]);
    const agent = agentOn(store, { model, onEvent: (event) => events.push(event) });
    await agent.call("next", ctx);
    expect(events.filter(({ type }) => type === "repaired")).toMatchObject([
      { repairs: [{ kind: "missing_result", callId: "2" }] },
    ]);
    expectPaired(model.requests[0]?.messages ?? []);
    const state = await agent.getAgentState(null, "s");
    expectPaired(state?.context ?? []);
    // What was repaired is saved: the next call has nothing to repair.
    const again: AgentEvent[] = [];
    await agentOn(store, { onEvent: (event) => again.push(event) }).call("next", ctx);
    expect(again.map(({ type }) => type)).not.toContain("repaired");
  });

  test.each([
    ["an orphan result", [userMessage("go"), result("9")]],
    [
      "a result that comes late",
      [assistantMessage([call("1")]), userMessage("meanwhile"), result("1")],
    ],
    ["two results of one call", [assistantMessage([call("1")]), result("1"), result("1")]],
    [
      "an old call left open",
      [assistantMessage([call("1")]), userMessage("and?"), assistantMessage("well")],
    ],
  ])("%s is repaired, so that the next request is valid", async (_, messages) => {
    const store = await leave(messages);
    const model = scriptedModel(["on"]);
    await agentOn(store, { model }).call("next", ctx);
    expectPaired(model.requests[0]?.messages ?? []);
  });

  test.each(["asking", "pending"] as const)(
    "a listed call stays open while it is %s: plain input is told to answer first",
    async (openState) => {
      const store = await leave([userMessage("go"), assistantMessage([call("1")])], {
        "1": openState,
      });
      const events: AgentEvent[] = [];
      let ran = 0;
      const work = tool({
        name: "work",
        description: "Works.",
        input: z.object({}),
        execute: () => ++ran,
      });
      const model = scriptedModel(["on"]);
      const agent = agentOn(store, {
        model,
        tools: [work],
        plugins: [
          {
            name: "guard",
            contract: 1,
            setup: (host) => host.provide("toolGuard", listGuard({ ask: ["work"] })),
          },
        ],
        onEvent: (event) => events.push(event),
      });
      const before = await store.load(slotOf());
      await expect(agent.call("plain", ctx)).rejects.toSatisfy(PendingConfirmationError.is);
      expect(events.map(({ type }) => type)).not.toContain("repaired");
      expect(await store.load(slotOf())).toEqual(before);
      const answer =
        openState === "asking"
          ? { confirm: [{ callId: "1", approve: true }] }
          : { results: [{ callId: "1", output: "from outside" }] };
      expect((await agent.call(answer, ctx)).text).toBe("on");
      expect(ran).toBe(openState === "asking" ? 1 : 0);
      expectPaired(model.requests[0]?.messages ?? []);
    },
  );

  test("interrupting a session that waits for an answer closes its calls", async () => {
    const store = await leave([userMessage("go"), assistantMessage([call("1")])], {
      "1": "asking",
    });
    const agent = agentOn(store);
    expect(await agent.interrupt(null, "s", "Never mind.")).toBe(true);
    const state = await agent.getAgentState(null, "s");
    expect(outline(state)).toEqual([
      "user: go",
      "assistant: call work",
      expect.stringMatching(/^tool: interrupted /),
      "user: Never mind.",
    ]);
    expect(state?.openCalls).toEqual({});
    expect((await agent.call("next", ctx)).text).toBe("ok");
  });

  test("a call that was running becomes an interrupted result saying that its outcome is unknown", async () => {
    const store = await leave([userMessage("go"), assistantMessage([call("1")])], {
      "1": "started",
    });
    const model = scriptedModel(["on"]);
    await agentOn(store, { model }).call("next", ctx);
    expect(outline(model.requests[0]?.messages)[2]).toMatch(/^tool: interrupted .*unknown/);
    const log = outline(logged(await logRecords(store, slotOf())));
    expect(log.filter((line) => line.startsWith("tool: interrupted"))).toHaveLength(1);
  });
});

describe.each([true, false])("a lease that is lost, fused: %s", (fused) => {
  /** A gate whose leases can be taken away. */
  function losableGate(gate: SessionGate): { gate: SessionGate; lose: () => void } {
    let lost = new AbortController();
    return {
      lose: () => lost.abort(new Error("the lease ran out")),
      gate: {
        contract: 1,
        kind: "losable",
        reach: gate.reach,
        calls: (slot) => gate.calls(slot),
        acquire: async (slot, request): Promise<Lease> => {
          const lease = await gate.acquire(slot, request);
          lost = new AbortController();
          return {
            token: lease.token,
            lost: lost.signal,
            loaded: lease.loaded,
            release: () => lease.release(),
          };
        },
      },
    };
  }

  function setUp(options: Partial<ReActAgentOptions> = {}) {
    const store = new InMemoryAgentStateStore({ fused });
    const { gate, lose } = losableGate(
      fused ? store.companions().gate : new InProcessSessionGate(),
    );
    const ran: string[] = [];
    const work = tool({
      name: "work",
      description: "Works.",
      input: z.object({}),
      execute: () => ran.push("work"),
    });
    const events: AgentEvent[] = [];
    const agent = new ReActAgent({
      name: "a",
      model: scriptedModel(() => "ok"),
      stateStore: store,
      gate,
      tools: [work],
      onEvent: (event) => events.push(event),
      ...options,
    });
    return { store, agent, lose, ran, events };
  }

  async function expectNothingSaved(
    { store, ran, events }: ReturnType<typeof setUp>,
    running: Promise<unknown>,
  ): Promise<void> {
    const error = await running.catch((reason) => reason);
    expect(LeaseLostError.is(error)).toBe(true);
    expect(error).toMatchObject({ code: "LEASE_LOST", errorClass: "CONFLICT" });
    expect(ran).toEqual([]);
    expect(await store.load(slotOf())).toBeNull();
    expect(events.map(({ type }) => type)).not.toContain("state_saved");
    const records = await logRecords(store, slotOf());
    expect(outcomes(records).at(-1)).toBe("conflict");
    expect(outline(logged(records))[0]).toBe("user: go");
  }

  test("while the model thinks: no tool starts after it, nothing is saved, the log says conflict", async () => {
    const [reached, release] = [door(), door()];
    const held = setUp({
      model: scriptedModel(async () => {
        reached.open();
        await release.opened;
        return { toolCalls: [{ name: "work", input: {} }] };
      }),
    });
    const running = held.agent.call("go", ctx);
    await reached.opened;
    held.lose();
    release.open();
    await expectNothingSaved(held, running);
  });

  test("between the reply and its tools, in a hook: none of them starts", async () => {
    const held = setUp({
      model: scriptedModel([{ toolCalls: [{ name: "work", input: {} }] }]),
      middleware: [
        {
          name: "loser",
          onToolCall: (_, next) => {
            held.lose();
            return next();
          },
        },
      ],
    });
    await expectNothingSaved(held, held.agent.call("go", ctx));
  });

  test("at the very end, when everything is said: nothing is saved and the error has the reply", async () => {
    const held = setUp({
      middleware: [
        {
          name: "loser",
          onCall: async (_, next) => {
            const reply = await next();
            held.lose();
            return reply;
          },
        },
      ],
    });
    const running = held.agent.call("go", ctx);
    await expectNothingSaved(held, running);
    await expect(running).rejects.toMatchObject({ reply: { text: "ok" } });
  });

  test("before the state has even been loaded: the model is not asked", async () => {
    const model = scriptedModel(() => "ok");
    const { store } = setUp();
    const losing = losableGate(fused ? store.companions().gate : new InProcessSessionGate());
    const agent = new ReActAgent({
      name: "a",
      model,
      stateStore: store,
      gate: {
        ...losing.gate,
        acquire: async (slot, request) => {
          const lease = await losing.gate.acquire(slot, request);
          losing.lose();
          return lease;
        },
      },
    });
    await expect(agent.call("go", ctx)).rejects.toSatisfy(LeaseLostError.is);
    expect(model.requests).toHaveLength(0);
    expect(await store.load(slotOf())).toBeNull();
  });

  test("the session is free afterwards, and the next call sees the stored truth", async () => {
    const [reached, release] = [door(), door()];
    let first = true;
    const held = setUp({
      model: scriptedModel(async () => {
        if (!first) return "fine";
        first = false;
        reached.open();
        await release.opened;
        return "lost";
      }),
    });
    const running = held.agent.call("go", ctx);
    await reached.opened;
    held.lose();
    await expect(running).rejects.toSatisfy(LeaseLostError.is);
    release.open();
    expect((await held.agent.call("again", ctx)).text).toBe("fine");
    expect(outline(await held.agent.getAgentState(null, "s"))).toEqual([
      "user: again",
      "assistant: fine",
    ]);
  });
});
