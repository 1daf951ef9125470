import { type AgentEvent, ReActAgent } from "@holdfast/core";
import { type BudgetOptions, budget } from "@holdfast/permissions";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { fleetStores, freshChoice } from "../fleet/choices.js";
import { openStore } from "../fleet/open-store.mjs";

/** Nodes on one server, each with connections of its own; every request costs 11 tokens. */
function nodesOn(kind: "redis" | "mysql", count: number, options: BudgetOptions) {
  const choice = freshChoice(kind);
  const events: AgentEvent[] = [];
  const nodes = Array.from({ length: count }, () => {
    const { store, close } = openStore(choice);
    const model = scriptedModel(() => ({
      text: "Yes.",
      usage: { inputTokens: 10, outputTokens: 1 },
    }));
    const agent = new ReActAgent({
      ...{ name: "guide", model, distributedStore: store, plugins: [budget(options)] },
      onEvent: (event) => void events.push(event),
    });
    onTestFinished(async () => {
      await agent.close();
      await close();
    });
    return { agent, store };
  });
  const say = (node: number, sessionId: string) => {
    const agent = nodes[node % count]?.agent;
    if (!agent) throw new Error("there is no such node");
    return agent.call("Hello", { userId: "alice", sessionId });
  };
  return { nodes, events, say };
}

describe.each(fleetStores)("budgets of several nodes on %s", (kind) => {
  test("lose no request of a user, and warn once", async () => {
    const { nodes, events, say } = nodesOn(kind, 3, { perUser: { tokens: 200 } });
    const calls = Array.from({ length: 18 }, (_, n) => say(n, `s-${n}`));
    const reasons = (await Promise.all(calls)).map(({ reason }) => reason);
    expect(new Set(reasons)).toEqual(new Set(["stop"]));
    const stored = await nodes[0]?.store.keyValue.get(["budget", "guide", "users"], "alice");
    expect(stored?.value).toMatchObject({ tokens: 18 * 11 });
    expect((await say(1, "last")).reason).toBe("stop");
    expect((await say(2, "more")).text).toContain("209 of 200 tokens");
    expect(events.filter(({ type }) => type === "budget_warning")).toHaveLength(1);
  });

  test("keep the count of a session that moves from node to node", async () => {
    const { say } = nodesOn(kind, 2, { perSession: { tokens: 33 } });
    for (let turn = 0; turn < 3; turn++) expect((await say(turn, "s")).reason).toBe("stop");
    for (let turn = 0; turn < 2; turn++)
      expect((await say(turn, "s")).text).toContain("33 of 33 tokens");
  });
});
