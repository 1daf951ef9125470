import { InMemoryAgentStateStore, ModelError } from "@holdfast/core";
import { addUsage, noUsage } from "@holdfast/core/plugin-kit";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { BudgetOptions } from "../../src/index.js";
import { agentWith, alice, goOn, usage } from "./budgeted-agent.js";

describe("the limit of a call", () => {
  test("ends the turn with a reply that says so, saved and with no open calls", async () => {
    const { agent, model, say, ofType } = agentWith({ perCall: { tokens: 20 } }, [
      goOn,
      goOn,
      goOn,
    ]);
    const reply = await say();
    expect(reply.reason).toBe("middleware_stop");
    expect(reply.text).toContain("budget of this request is used up (22 of 20 tokens)");
    expect(reply.text).toContain("send another message");
    expect(reply.usage).toEqual({ inputTokens: 20, outputTokens: 2 });
    expect(model.requests).toHaveLength(2);
    const state = await agent.getAgentState(alice);
    expect(state?.context.map(({ role }) => role)).toEqual([
      ...["user", "assistant", "tool", "assistant", "tool", "assistant"],
    ]);
    expect(state?.context.at(-1)).toEqual(reply.message);
    expect(state?.openCalls).toEqual({});
    expect(ofType("budget_exceeded")).toMatchObject([
      { scope: "call", unit: "tokens", used: 22, limit: 20, purpose: "reasoning" },
    ]);
    // Nothing was sent, so that there is no request in the events either.
    expect(ofType("model_call_start")).toHaveLength(2);
  });

  test("starts over with the next call", async () => {
    const { say, ofType } = agentWith({ perCall: { tokens: 20 } }, [goOn, goOn]);
    expect((await say()).reason).toBe("middleware_stop");
    expect((await say("Go on")).reason).toBe("stop");
    expect(ofType("budget_warning")).toMatchObject([{ scope: "call", used: 22 }]);
  });

  test("goes on when another process goes on with the call", async () => {
    const stateStore = new InMemoryAgentStateStore();
    const callId = "call-1";
    const first = agentWith({ perCall: { tokens: 20 } }, [goOn, { error: new ModelError("no") }], {
      stateStore,
    });
    await expect(first.agent.call("Go", { ...alice, callId })).rejects.toThrow();
    const second = agentWith({ perCall: { tokens: 20 } }, [goOn], { stateStore });
    const reply = await second.agent.call("Go", { ...alice, callId });
    expect(reply.text).toContain("22 of 20 tokens");
    expect(second.model.requests).toHaveLength(1);
  });
});

describe("the limit of a session", () => {
  test("counts over calls and processes, and ends the turn of each further one", async () => {
    const stateStore = new InMemoryAgentStateStore();
    const options: BudgetOptions = { perSession: { tokens: 25 } };
    const first = agentWith(options, [], { stateStore });
    expect((await first.say()).reason).toBe("stop");
    await first.say();
    await first.agent.close();
    const second = agentWith(options, [], { stateStore });
    expect((await second.say()).reason).toBe("stop");
    for (let turn = 0; turn < 2; turn++) {
      const reply = await second.say("More");
      expect(reply.reason).toBe("middleware_stop");
      expect(reply.text).toContain("33 of 25 tokens");
    }
    expect(second.model.requests).toHaveLength(1);
    expect((await second.say("Hello", { ...alice, sessionId: "other" })).reason).toBe("stop");
    expect([...first.ofType("budget_warning"), ...second.ofType("budget_warning")]).toMatchObject([
      { scope: "session", used: 22, limit: 25 },
    ]);
  });

  test("counts requests that failed with usage", async () => {
    const failed: ScriptedReply = { usage, finish: "error" };
    const { say, model } = agentWith({ perSession: { tokens: 30 } }, [failed, failed]);
    expect((await say()).reason).toBe("stop");
    expect(model.requests).toHaveLength(3);
    expect((await say()).text).toContain("33 of 30 tokens");
  });

  test("ends the turn when a retry is refused, with and without a fallback model", async () => {
    const failed: ScriptedReply = { text: "I beg", usage, finish: "error" };
    for (const fallbackModel of [undefined, scriptedModel(() => "Never.")]) {
      const world = agentWith({ perSession: { tokens: 11 } }, [failed], {
        ...(fallbackModel && { fallbackModel }),
      });
      const reply = await world.say();
      expect(reply.reason).toBe("middleware_stop");
      expect(reply.text).toContain("11 of 11 tokens");
      expect(world.model.requests).toHaveLength(1);
      expect(fallbackModel?.requests ?? []).toHaveLength(0);
      expect(world.ofType("budget_exceeded")).toHaveLength(1);
    }
  });

  test("ends the last words of a call that reached its iterations", async () => {
    const { say } = agentWith({ perSession: { tokens: 22 } }, [goOn, goOn], { maxIterations: 2 });
    const reply = await say();
    expect(reply).toMatchObject({ reason: "max_iterations" });
    expect(reply.text).toContain("22 of 22 tokens");
  });

  test("ends a call for structured output", async () => {
    const { agent } = agentWith({ perSession: { tokens: 5 } }, [goOn]);
    const output = z.object({ answer: z.number() });
    const reply = await agent.call("Go", { ...alice, output });
    expect(reply.reason).toBe("middleware_stop");
    expect(reply.text).toContain("11 of 5 tokens");
  });

  test("starts over when the session is deleted", async () => {
    const { agent, say } = agentWith({ perSession: { tokens: 11 } });
    await say();
    expect((await say()).reason).toBe("middleware_stop");
    await agent.deleteSession(alice.userId, alice.sessionId);
    expect((await say()).reason).toBe("stop");
  });
});

test("the reply's usage is what was counted", async () => {
  const { agent, say } = agentWith({ perSession: { tokens: 1_000 } }, [goOn, goOn]);
  const replies = [await say(), await say()];
  const total = replies.map((reply) => reply.usage).reduce(addUsage, noUsage);
  const state = await agent.getAgentState(alice);
  expect(state?.extensions["budget"]).toMatchObject({
    value: { session: { tokens: total.inputTokens + total.outputTokens } },
  });
});
