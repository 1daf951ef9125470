import { compaction } from "@holdfast/compaction";
import {
  type AgentEvent,
  InMemoryAgentStateStore,
  InMemoryFilesystem,
  type ModelRequest,
  ReActAgent,
  textOf,
} from "@holdfast/core";
import { memoryFlush } from "@holdfast/memory-flush";
import { type BudgetOptions, budget } from "@holdfast/permissions";
import { eventually, scriptedModel } from "@holdfast/testing";
import { describe, expect, onTestFinished, test } from "vitest";

/** Answers, summarises and remembers. */
function answerTo({ messages }: Pick<ModelRequest, "messages">): string {
  const text = messages[0] ? textOf(messages[0]) : "";
  // Questions of memory-flush: first for facts, then for a memory with them.
  if (text.startsWith("Today is")) return "- The user likes tea.";
  if (text.includes("The user likes tea.")) return "# Memory\n- The user likes tea.";
  return "Yes, they spoke about tea.";
}

/** Agent whose requests cost 11 tokens each, with everything that asks a model on the side. */
function world(options: BudgetOptions, more: { readonly memory?: boolean } = {}) {
  const events: AgentEvent[] = [];
  const model = scriptedModel((request) => ({
    text: answerTo(request),
    usage: { inputTokens: 10, outputTokens: 1 },
  }));
  const stateStore = new InMemoryAgentStateStore();
  const agent = new ReActAgent({
    ...{ name: "guide", model, stateStore, filesystem: new InMemoryFilesystem() },
    plugins: [
      compaction({ triggerMessages: 4, keepMessages: 2 }),
      ...(more.memory ? [memoryFlush({ flushTrigger: "always", tools: false })] : []),
      budget(options),
    ],
    onEvent: (event) => void events.push(event),
  });
  onTestFinished(() => agent.close());
  const ofType = <T extends AgentEvent["type"]>(type: T) =>
    events.filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type);
  const say = (text: string) => agent.call(text, { userId: "alice", sessionId: "s" });
  const spent = async () => {
    const stored = await stateStore
      .companions()
      .keyValue.get(["budget", "guide", "users"], "alice");
    return stored?.value;
  };
  return { agent, model, ofType, say, spent };
}

describe("a budget over helper requests", () => {
  test("counts summaries, flushes and consolidations for the user", async () => {
    const { agent, model, ofType, say, spent } = world(
      { perUser: { tokens: 100_000 } },
      { memory: true },
    );
    for (let turn = 0; turn < 4; turn++) await say(`turn ${turn} about tea`);
    await eventually(() => ofType("consolidation").some(({ state }) => state === "end"));
    await agent.close();
    const purposes = ofType("model_call_end").map(({ purpose }) => purpose);
    expect(new Set(purposes)).toEqual(
      new Set(["reasoning", "summary", "memory_flush", "consolidation"]),
    );
    expect(await spent()).toMatchObject({ tokens: 11 * model.requests.length });
  });

  test("counts a summary for its call, whose own request is refused then", async () => {
    const { say, ofType } = world({ perCall: { tokens: 11 } });
    await say("turn 0 about tea");
    await say("turn 1 about tea");
    const reply = await say("turn 2 about tea");
    expect(ofType("model_call_end").map(({ purpose }) => purpose)).toContain("summary");
    expect(reply.reason).toBe("middleware_stop");
    expect(reply.text).toContain("11 of 11 tokens");
    expect(ofType("budget_exceeded").at(-1)).toMatchObject({ purpose: "reasoning", scope: "call" });
  });

  test("refuses a summary without failing the session", async () => {
    const { agent, model, ofType, say } = world({ perSession: { tokens: 22 } });
    await say("turn 0 about tea");
    await say("turn 1 about tea");
    const before = await agent.getAgentState("alice", "s");
    await agent.compact("alice", "s", { force: true }).catch(() => undefined);
    expect(ofType("compaction_failed")).toMatchObject([
      { cause: "manual", error: "BUDGET_EXCEEDED" },
    ]);
    expect(ofType("budget_exceeded")).toMatchObject([{ purpose: "summary", scope: "session" }]);
    const after = await agent.getAgentState("alice", "s");
    expect(after?.context).toEqual(before?.context);
    expect((await say("turn 2 about tea")).reason).toBe("middleware_stop");
    expect(model.requests).toHaveLength(2);
  });

  test("refuses a memory flush of a session that has used up its limit", async () => {
    const { model, ofType, say } = world({ perSession: { tokens: 11 } }, { memory: true });
    expect((await say("I like tea")).reason).toBe("stop");
    await eventually(() => ofType("memory_flush_failed").length > 0);
    expect(ofType("memory_flush_failed")[0]).toMatchObject({ error: "BUDGET_EXCEEDED" });
    expect(ofType("budget_exceeded")[0]).toMatchObject({
      ...{ purpose: "memory_flush", scope: "session", used: 11, background: true },
    });
    expect(model.requests).toHaveLength(1);
  });

  test("counts a memory flush for its session", async () => {
    const { ofType, say } = world({ perSession: { tokens: 22 } }, { memory: true });
    await say("I like tea");
    await eventually(() => ofType("memory_flush_end").length > 0);
    expect((await say("Do you know?")).text).toContain("22 of 22 tokens");
  });
});
