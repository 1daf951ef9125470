import { InMemoryAgentStateStore, ReActAgent, textOf, tool } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";

const add = tool({
  name: "add",
  description: "Adds two numbers.",
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});

// The same turns over a store that serves gate and log inside its saves, and over one that does not.
describe.each([true, false])("a turn, fused: %s", (fused) => {
  const store = () => new InMemoryAgentStateStore({ fused });

  test("ends with the model's answer, saved", async () => {
    const model = scriptedModel(["Hello Alice."]);
    const agent = new ReActAgent({ name: "a", model, stateStore: store() });
    const reply = await agent.call("Hi", { userId: "alice", sessionId: "s" });
    expect(reply.reason).toBe("stop");
    expect(reply.text).toBe("Hello Alice.");
    const state = await agent.getAgentState("alice", "s");
    expect(state?.context.map(textOf)).toEqual(["Hi", "Hello Alice."]);
  });

  test("runs tools and shows the model their results, paired", async () => {
    const model = scriptedModel([
      {
        toolCalls: [
          { name: "add", input: { a: 1, b: 2 } },
          { name: "add", input: { a: 3, b: 4 } },
        ],
      },
      "3 and 7",
    ]);
    const agent = new ReActAgent({ name: "a", model, tools: [add], stateStore: store() });
    const reply = await agent.call("sums?");
    expect(reply.text).toBe("3 and 7");
    const [, assistant, results] = model.requests[1]?.messages ?? [];
    const ids = assistant?.content.map((block) => (block.type === "tool_call" ? block.id : ""));
    expect(new Set(ids).size).toBe(2);
    expect(
      results?.content.map((block) =>
        block.type === "tool_result" ? [block.callId, block.output[0]] : [],
      ),
    ).toEqual([
      [ids?.[0], { type: "text", text: "3" }],
      [ids?.[1], { type: "text", text: "7" }],
    ]);
  });

  test("is continued by another agent over the same store", async () => {
    const shared = store();
    const first = new ReActAgent({ name: "a", model: scriptedModel(["one"]), stateStore: shared });
    await first.call("1", { sessionId: "s" });
    const model = scriptedModel(["two"]);
    await new ReActAgent({ name: "a", model, stateStore: shared }).call("2", { sessionId: "s" });
    expect(model.requests[0]?.messages.map(textOf)).toEqual(["1", "one", "2"]);
  });

  test("40 calls at once on one session end in call order, 60 sessions run in parallel", async () => {
    let running = 0;
    let most = 0;
    const model = scriptedModel(async (request) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return `re: ${textOf(request.messages.at(-1) as never)}`;
    });
    const agent = new ReActAgent({ name: "a", model, stateStore: store() });
    const numbers = Array.from({ length: 40 }, (_, index) => index);
    const ended: number[] = [];
    await Promise.all(
      numbers.map(async (n) => {
        await agent.call(`${n}`, { sessionId: "one" });
        ended.push(n);
      }),
    );
    expect(ended).toEqual(numbers);
    expect(most).toBe(1);
    const state = await agent.getAgentState(null, "one");
    expect(state?.context.map(textOf)).toEqual(numbers.flatMap((n) => [`${n}`, `re: ${n}`]));
    let inside = 0;
    let release = () => {};
    const all = new Promise<void>((resolve) => {
      release = resolve;
    });
    const crowd = new ReActAgent({
      name: "b",
      stateStore: store(),
      model: scriptedModel(async () => {
        if (++inside === 60) release();
        await all;
        return "ok";
      }),
    });
    await Promise.all(
      Array.from({ length: 60 }, (_, index) => crowd.call("x", { sessionId: `s${index}` })),
    );
    expect(inside).toBe(60);
  });
});
