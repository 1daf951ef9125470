import { compaction } from "@holdfast/compaction";
import {
  type AgentEvent,
  definePlugin,
  HoldfastError,
  InMemoryAgentStateStore,
  InMemoryFilesystem,
  type ModelRequest,
  type Plugin,
  ReActAgent,
  textOf,
} from "@holdfast/core";
import { memoryFlush } from "@holdfast/memory-flush";
import { describePlugin, eventually, type ScriptedModel, scriptedModel } from "@holdfast/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { tokenBudget } from "../../examples/third-party-plugin/src/token-budget.js";

interface Budget {
  readonly plugin: Plugin;
  /** Tokens by user. */
  readonly spent: Map<string, number>;
  /** Purposes of all requests, in their order. */
  readonly purposes: string[];
  /** Purposes that are refused from now on. */
  readonly refused: Set<string>;
}

/** Counts the tokens of each user over all requests, and refuses requests of some purposes. */
function budget(refusal: () => Error = () => new HoldfastError("BUDGET_SPENT", "x")): Budget {
  const spent = new Map<string, number>();
  const purposes: string[] = [];
  const refused = new Set<string>();
  const plugin = definePlugin({
    name: "budget",
    contract: 1,
    setup(host) {
      host.use({
        name: "budget",
        async *onModelCall(step, next) {
          purposes.push(step.purpose);
          if (refused.has(step.purpose)) throw refusal();
          const user = step.slot.userId ?? "anonymous";
          for await (const chunk of next()) {
            if (chunk.type === "finish") {
              const tokens = chunk.usage.inputTokens + chunk.usage.outputTokens;
              spent.set(user, (spent.get(user) ?? 0) + tokens);
            }
            yield chunk;
          }
        },
      });
    },
  });
  return { plugin, spent, purposes, refused };
}

/** A model that answers, summarises and remembers. Every request costs 10 tokens, and each answer 1. */
function cheapModel(): ScriptedModel {
  return scriptedModel((request) => ({
    text: answerTo(request),
    usage: { inputTokens: 10, outputTokens: 1 },
  }));
}

function answerTo({ messages }: Pick<ModelRequest, "messages">): string {
  const text = messages[0] ? textOf(messages[0]) : "";
  // Questions of memory-flush: first for facts, then for a memory with them.
  if (text.startsWith("Today is")) return "- The user likes tea.";
  if (text.includes("The user likes tea.")) return "# Memory\n- The user likes tea.";
  const last = messages.at(-1);
  if (last?.content.some((block) => block.type === "hint" && block.source === "compaction"))
    return "They spoke about tea.";
  return last === undefined ? "" : `Yes: ${textOf(last).slice(0, 20)}`;
}

function world(plugin: Plugin, options: { readonly memory?: boolean } = {}) {
  const events: AgentEvent[] = [];
  const model = cheapModel();
  const agent = new ReActAgent({
    ...{ name: "guide", model, filesystem: new InMemoryFilesystem() },
    plugins: [
      compaction({ triggerMessages: 4, keepMessages: 2 }),
      ...(options.memory ? [memoryFlush({ flushTrigger: "always", tools: false })] : []),
      plugin,
    ],
    onEvent: (event) => void events.push(event),
  });
  onTestFinished(() => agent.close());
  const ofType = <T extends AgentEvent["type"]>(type: T) =>
    events.filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type);
  const say = (text: string) => agent.call(text, { userId: "alice", sessionId: "s" });
  return { agent, model, events, ofType, say };
}

describe("a budget plugin", () => {
  test("counts the tokens of a user over reasoning, summaries and memory", async () => {
    const { plugin, spent, purposes } = budget();
    const { agent, model, say, ofType } = world(plugin, { memory: true });
    for (let turn = 0; turn < 4; turn++) await say(`turn ${turn} about tea`);
    await eventually(() => ofType("consolidation").some(({ state }) => state === "end"));
    await agent.close();

    expect(new Set(purposes)).toEqual(
      new Set(["reasoning", "summary", "memory_flush", "consolidation"]),
    );
    expect(purposes).toHaveLength(model.requests.length);
    expect(spent).toEqual(new Map([["alice", 11 * model.requests.length]]));
    const started = ofType("model_call_start").map(({ purpose }) => purpose);
    expect(purposes.toSorted()).toEqual(started.toSorted());
  });

  test.each([
    ["its code", () => new HoldfastError("BUDGET_SPENT", "no tokens left"), "BUDGET_SPENT"],
    ["its name", () => new RangeError("no tokens left for alice"), "RangeError"],
  ])(
    "refuses a summary, whose failure has %s, and the session goes on",
    async (_, refusal, error) => {
      const { plugin, refused } = budget(refusal);
      refused.add("summary");
      const { agent, model, say, ofType } = world(plugin);
      for (let turn = 0; turn < 4; turn++)
        expect((await say(`turn ${turn} about tea`)).reason).toBe("stop");

      expect(ofType("compaction_failed").map((event) => event.error)).toContain(error);
      expect(ofType("compaction_end")).toEqual([]);
      // Nothing of a refused request reached the model, and nothing left the context.
      expect(model.requests).toHaveLength(4);
      const state = await agent.getAgentState("alice", "s");
      expect(state?.context).toHaveLength(8);
      refused.clear();
      await agent.compact("alice", "s", { force: true });
      expect(ofType("compaction_end")).toHaveLength(1);
    },
  );

  test.each([
    ["its code", () => new HoldfastError("BUDGET_SPENT", "no tokens left"), "BUDGET_SPENT"],
    ["its name", () => new RangeError("no tokens left for alice"), "RangeError"],
  ])(
    "refuses a memory flush, whose failure has %s, and the session goes on",
    async (_, refusal, error) => {
      const { plugin, refused } = budget(refusal);
      refused.add("memory_flush");
      const { model, say, ofType } = world(plugin, { memory: true });
      expect((await say("I like tea")).reason).toBe("stop");
      await eventually(() => ofType("memory_flush_failed").length > 0);
      expect(ofType("memory_flush_failed")[0]).toMatchObject({ error, background: true });
      expect(ofType("memory_flush_end")).toEqual([]);
      expect((await say("Do you know what I like?")).reason).toBe("stop");
      expect(model.requests).toHaveLength(2);
    },
  );

  test("refuses the agent's own request, and the call fails with its error", async () => {
    const { plugin, refused } = budget();
    const { model, say } = world(plugin);
    await say("Hello");
    refused.add("reasoning");
    await expect(say("Hello again")).rejects.toMatchObject({ code: "BUDGET_SPENT" });
    expect(model.requests).toHaveLength(1);
    refused.clear();
    expect((await say("And now?")).reason).toBe("stop");
  });
});

describe("the budget plugin of the documentation", () => {
  const asked = { usage: { inputTokens: 10, outputTokens: 1 }, text: "Yes." };

  test("refuses a user who has spent it in any session, until the user is deleted", async () => {
    const model = scriptedModel(() => asked);
    const agent = new ReActAgent({ name: "guide", model, plugins: [tokenBudget({ limit: 22 })] });
    onTestFinished(() => agent.close());
    const say = (userId: string | null, sessionId: string) =>
      agent.call("Hello", { userId, sessionId });
    await say("alice", "one");
    await say("alice", "two");
    await expect(say("alice", "three")).rejects.toMatchObject({ code: "BUDGET_SPENT" });
    expect(model.requests).toHaveLength(2);
    await say("bob", "one");
    for (let turn = 0; turn < 3; turn++) await say(null, "s");
    await agent.deleteUser("alice");
    expect((await say("alice", "three")).reason).toBe("stop");
  });

  test("counts every one of many calls at once, of two agents on one store", async () => {
    const stateStore = new InMemoryAgentStateStore();
    const agents = [1, 2].map(
      () =>
        new ReActAgent({
          ...{ name: "guide", stateStore, model: scriptedModel(() => asked) },
          plugins: [tokenBudget({ limit: 221 })],
        }),
    );
    onTestFinished(async () => void (await Promise.all(agents.map((agent) => agent.close()))));
    const say = (agent: ReActAgent | undefined, sessionId: string) =>
      agent?.call("Hello", { userId: "alice", sessionId });
    await Promise.all(Array.from({ length: 20 }, (_, n) => say(agents[n % 2], `s-${n}`)));
    // 20 calls of 11 tokens are 220: one more may begin, and no other.
    await say(agents[0], "last");
    await expect(say(agents[1], "more")).rejects.toMatchObject({ code: "BUDGET_SPENT" });
  });
});

describePlugin("token budget", { create: () => tokenBudget({ limit: 1_000_000 }) });
