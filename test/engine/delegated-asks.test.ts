import {
  type AgentEvent,
  type AgentReply,
  type Confirmation,
  definePlugin,
  InMemoryAgentStateStore,
  listGuard,
  type PendingCall,
  PendingConfirmationError,
  ReActAgent,
  type ReActAgentOptions,
  suspend,
  textOf,
  tool,
  toolResultsOf,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";

const session = { userId: "ann", sessionId: "s" };

/** Another agent, behind a tool: what it asks, what it was answered, and what it says in the end. */
class Other {
  asks: PendingCall[] = [];
  readonly answers: (readonly Confirmation[])[] = [];
  runs = 0;
  result: string | null = null;

  ask(...ids: readonly string[]): void {
    this.asks = ids.map((toolCallId) => ({
      ...{ toolCallId, name: "pay", input: { to: toolCallId }, state: "asking", reason: "Costs." },
      ...{ agent: "payer", label: "bills", suggestions: [{ tool: "pay", pattern: toolCallId }] },
    }));
  }

  /** The tool that runs it. */
  tool() {
    const answer = () => this.result ?? suspend("waits");
    return tool({
      name: "delegate",
      description: "Has another agent do it.",
      input: z.object({ task: z.string() }),
      execute: () => {
        this.runs++;
        return answer();
      },
      delegation: {
        pending: async () => this.asks,
        answer: (answers) => {
          this.answers.push(answers);
          const answered = new Set(answers.map(({ toolCallId }) => toolCallId));
          this.asks = this.asks.filter(({ toolCallId }) => !answered.has(toolCallId));
          if (this.asks.length === 0) this.result = "paid";
          return answer();
        },
      },
    });
  }
}

const looked: string[] = [];
const look = tool({
  name: "look",
  description: "Looks.",
  input: z.object({}),
  execute: () => {
    looked.push("looked");
    return "seen";
  },
});

function pendingOf(reply: AgentReply): readonly PendingCall[] {
  if (reply.reason !== "permission_asking") throw new Error(`not asking but ${reply.reason}`);
  return reply.pending;
}

const delegating = { toolCalls: [{ name: "delegate", input: { task: "Pay the bills." } }] };

describe.each([true, false])("what another agent asks, fused: %s", (fused) => {
  function make(
    script: Parameters<typeof scriptedModel>[0],
    options: Partial<ReActAgentOptions> = {},
  ) {
    const other = new Other();
    other.ask("one", "two");
    const events: AgentEvent[] = [];
    const stateStore = new InMemoryAgentStateStore({ fused });
    const model = scriptedModel(script);
    const agents = () =>
      new ReActAgent({
        ...{ name: "a", model, stateStore, tools: [other.tool(), look] },
        onEvent: (event) => void events.push(event),
        ...options,
      });
    return { other, events, model, agents, agent: agents() };
  }

  test("is asked as the session's own, and listed in any process", async () => {
    const { agent, agents, events } = make([delegating, "done"]);
    const pending = pendingOf(await agent.call("Go", session));
    expect(pending).toMatchObject([
      { toolCallId: "one", name: "pay", agent: "payer", label: "bills", reason: "Costs." },
      { toolCallId: "two" },
    ]);
    expect(await agents().pending("ann", "s")).toEqual(pending);
    expect((await agents().sessions({ waiting: true })).slots).toHaveLength(1);
    expect(events.filter(({ type }) => type === "permission_ask")).toMatchObject([{ pending }]);
    expect(events.some(({ type }) => type === "tool_suspended")).toBe(false);
  });

  test("is answered in parts, in two processes, and the call goes on when nothing is open", async () => {
    const { agent, agents, other } = make([delegating, "done"]);
    await agent.call("Go", session);
    const first = await agents().call({ confirm: [{ toolCallId: "two", approve: true }] }, session);
    expect(pendingOf(first).map(({ toolCallId }) => toolCallId)).toEqual(["one"]);
    const confirm = [{ toolCallId: "one", approve: false, reason: "Too dear." }];
    const last = await agents().call({ confirm }, session);
    expect(last).toMatchObject({ reason: "stop", text: "done" });
    expect(other.answers).toEqual([[{ toolCallId: "two", approve: true }], confirm]);
    expect(other.runs).toBe(1);
    const state = await agent.getAgentState("ann", "s");
    const results = state?.context.flatMap(toolResultsOf) ?? [];
    expect(results).toMatchObject([{ name: "delegate", state: "success" }]);
    expect(state?.openCalls).toEqual({});
  });

  test("can be edited", async () => {
    const { agent, other } = make([delegating, "done"]);
    other.ask("one");
    await agent.call("Go", session);
    const confirm = [{ toolCallId: "one", approve: true, input: { to: "Bob" } }];
    await agent.call({ confirm }, session);
    expect(other.answers).toEqual([confirm]);
  });

  test.each(["session", "user"] as const)("is remembered for the %s that asked", async (scope) => {
    const { agent, agents, other } = make([delegating, "done"]);
    other.ask("one");
    await agent.call("Go", session);
    await agent.call({ confirm: [{ toolCallId: "one", approve: true, remember: scope }] }, session);
    expect(await agents().rememberedRules("ann", "s")).toEqual([
      { tool: "pay", pattern: "one", scope },
    ]);
    expect(other.answers).toEqual([[{ toolCallId: "one", approve: true }]]);
  });

  test("stands beside the session's own asks, and one input answers both", async () => {
    const guard = definePlugin({
      name: "guard",
      contract: 1,
      setup: (host) => host.provide("toolGuard", listGuard({ ask: ["look"] })),
    });
    const calls = [...delegating.toolCalls, { name: "look", input: {} }];
    const { agent, other } = make([{ toolCalls: calls }, "done"], { plugins: [guard] });
    other.ask("one");
    looked.length = 0;
    const pending = pendingOf(await agent.call("Go", session));
    expect(pending.map(({ name }) => name).sort()).toEqual(["look", "pay"]);
    const confirm = pending.map(({ toolCallId }) => ({ toolCallId, approve: true }));
    expect((await agent.call({ confirm }, session)).text).toBe("done");
    expect(looked).toEqual(["looked"]);
    expect(other.answers).toEqual([[{ toolCallId: "one", approve: true }]]);
  });

  test("ends the turn when a person denies it and stops", async () => {
    const { agent, other, model } = make([delegating, "done"]);
    other.ask("one");
    await agent.call("Go", session);
    const confirm = [{ toolCallId: "one", approve: false, interrupt: true }];
    const reply = await agent.call({ confirm }, session);
    expect(reply.reason).toBe("interrupted");
    expect(other.answers).toEqual([confirm]);
    expect(model.requests).toHaveLength(1);
    expect((await agent.call("Next", session)).text).toBe("done");
  });

  test("keeps new messages out, and says what it waits for", async () => {
    const { agent } = make([delegating, "done"]);
    await agent.call("Go", session);
    const refused = await agent.call("Hello?", session).catch((error: unknown) => error);
    expect(PendingConfirmationError.is(refused) && refused.toolCallIds).toEqual(["one", "two"]);
    expect(String(refused)).toContain("an approval of pay (one), pay (two)");
  });

  test("is closed with a new message where the caller wants that, and by an interrupt", async () => {
    const { agent, other } = make([delegating, "fine", delegating, "well"]);
    await agent.call("Go", session);
    expect((await agent.call("Never mind", { ...session, onPending: "deny" })).text).toBe("fine");
    await agent.call("Again", session);
    expect(await agent.interrupt("ann", "s")).toBe("closed_asks");
    expect((await agent.call("Hello", session)).text).toBe("well");
    expect(other.answers).toEqual([]);
  });

  test("that was answered elsewhere keeps nothing waiting: the call runs again and has its result", async () => {
    const { agent, agents, other } = make([delegating, "done"]);
    await agent.call("Go", session);
    other.asks = [];
    other.result = "paid elsewhere";
    const reply = await agents().call("And now?", session);
    expect(reply.text).toBe("done");
    expect(other.runs).toBe(2);
    const state = await agent.getAgentState("ann", "s");
    const [result] = state?.context.flatMap(toolResultsOf) ?? [];
    expect(result?.output).toEqual([{ type: "text", text: "paid elsewhere" }]);
    expect(state?.context.filter(({ role }) => role === "user").map(textOf)).toEqual([
      "Go",
      "And now?",
    ]);
  });

  test("is not answered by an id that nobody asked about, nor twice", async () => {
    const { agent } = make([delegating, "done"]);
    await agent.call("Go", session);
    const wrong = agent.call({ confirm: [{ toolCallId: "three", approve: true }] }, session);
    await expect(wrong).rejects.toThrow(
      /"three" .* does not wait for a confirmation; waiting: one, two/,
    );
    expect((await agent.pending("ann", "s")).map(({ toolCallId }) => toolCallId)).toEqual([
      "one",
      "two",
    ]);
  });

  test("is answered once by a call that is repeated", async () => {
    const { agent, agents, other } = make([delegating, "done"]);
    other.ask("one");
    await agent.call("Go", session);
    const confirm = [{ toolCallId: "one", approve: true }];
    const named = { ...session, callId: "answer-1" };
    const reply = await agent.call({ confirm }, named);
    const again = await agents().call({ confirm }, named);
    expect(again.message.id).toBe(reply.message.id);
    expect(other.answers).toHaveLength(1);
  });

  test("that stops with a shutdown goes on with the next call", async () => {
    const { agent, agents, other } = make([delegating, "done"]);
    other.asks = [];
    let stopping: Promise<unknown> | undefined;
    const draining = new ReActAgent({
      ...{ name: "a", model: scriptedModel([delegating]), onEvent: () => undefined },
      stateStore: new InMemoryAgentStateStore({ fused }),
      tools: [
        tool({
          ...{ name: "delegate", description: "Delegates.", input: z.object({ task: z.string() }) },
          execute: () => {
            stopping = draining.shutdown();
            return suspend("paused");
          },
          delegation: { pending: async () => [], answer: () => suspend() },
        }),
      ],
    });
    const reply = await draining.call("Go", session);
    expect(reply.reason).toBe("shutdown");
    await stopping;
    // The same without a shutdown: the call ends, and runs again with the next one.
    expect((await agent.call("Go", session)).reason).toBe("tool_suspended");
    other.result = "paid";
    expect((await agents().call("Next", session)).text).toBe("done");
  });
});
