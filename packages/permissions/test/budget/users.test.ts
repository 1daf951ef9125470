import { InMemoryAgentStateStore, InMemoryKeyValueStore, StateCorruptError } from "@holdfast/core";
import { describe, expect, test } from "vitest";
import type { BudgetOptions } from "../../src/index.js";
import { agentWith } from "./budgeted-agent.js";

describe("the limit of a user", () => {
  test("counts over sessions, and not those of others, until the user is deleted", async () => {
    const { agent, say } = agentWith({ perUser: { tokens: 22 } });
    await say("Hello", { userId: "alice", sessionId: "one" });
    await say("Hello", { userId: "alice", sessionId: "two" });
    const refused = await say("Hello", { userId: "alice", sessionId: "three" });
    expect(refused.text).toContain("budget of your account is used up (22 of 22 tokens)");
    expect((await say("Hello", { userId: "bob", sessionId: "one" })).reason).toBe("stop");
    await agent.deleteUser("alice");
    expect((await say("Hello", { userId: "alice", sessionId: "three" })).reason).toBe("stop");
  });

  test("counts each anonymous session by itself", async () => {
    const { agent, say } = agentWith({ perUser: { tokens: 11 } });
    const anonymous = (sessionId: string) => say("Hello", { userId: null, sessionId });
    expect((await anonymous("one")).reason).toBe("stop");
    expect((await anonymous("two")).reason).toBe("stop");
    expect((await anonymous("one")).reason).toBe("middleware_stop");
    await agent.deleteSession(null, "one");
    expect((await anonymous("one")).reason).toBe("stop");
    expect((await anonymous("two")).reason).toBe("middleware_stop");
  });

  test("starts over in the next window, and says when that is", async () => {
    let now = Date.parse("2026-11-17T23:00:00Z");
    const options: BudgetOptions = { perUser: { tokens: 11 }, window: 86_400_000 };
    const { say, ofType } = agentWith(options, [], { clock: () => new Date(now) });
    await say();
    const resetsAt = "2026-11-18T00:00:00.000Z";
    expect((await say()).text).toContain(`Go on after ${resetsAt}`);
    expect(ofType("budget_exceeded")).toMatchObject([{ scope: "user", resetsAt }]);
    now = Date.parse(resetsAt);
    expect((await say()).reason).toBe("stop");
    expect((await say()).reason).toBe("middleware_stop");
    expect(ofType("budget_warning").map((event) => event.resetsAt)).toEqual([
      resetsAt,
      "2026-11-19T00:00:00.000Z",
    ]);
  });

  test("is not taken back to an earlier window by a node whose clock is behind", async () => {
    const stateStore = new InMemoryAgentStateStore();
    const options: BudgetOptions = { perUser: { tokens: 30 }, window: 1_000 };
    const at = (ms: number) => agentWith(options, [], { stateStore, clock: () => new Date(ms) });
    await at(5_000).say();
    await at(4_999).say();
    expect((await at(5_999).say()).reason).toBe("stop");
    expect((await at(4_000).say()).text).toContain("33 of 30 tokens");
  });

  test("is shared by agents of one account only", async () => {
    const stateStore = new InMemoryAgentStateStore();
    const options: BudgetOptions = { perUser: { tokens: 11 }, account: "team" };
    await agentWith(options, [], { stateStore }).say();
    const reasonOf = async (name: string, more: BudgetOptions) => {
      const { say } = agentWith(more, [], { stateStore, name, agentId: name });
      return (await say()).reason;
    };
    expect(await reasonOf("other", options)).toBe("middleware_stop");
    expect(await reasonOf("third", { perUser: { tokens: 11 } })).toBe("stop");
  });

  test("fails a call whose count cannot be read", async () => {
    const keyValue = new InMemoryKeyValueStore();
    await keyValue.put(["budget", "guide", "users"], "alice", { tokens: "many" });
    const { say, model } = agentWith({ perUser: { tokens: 11 } }, [], { keyValue });
    await expect(say()).rejects.toThrow(StateCorruptError);
    expect(model.requests).toHaveLength(0);
  });
});
