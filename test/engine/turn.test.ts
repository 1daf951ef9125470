import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AgentStateStore,
  InMemoryAgentStateStore,
  ReActAgent,
  textOf,
  tool,
} from "@holdfast/core";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";

const add = tool({
  name: "add",
  description: "Adds two numbers.",
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});

function jsonStore(): JsonFileAgentStateStore {
  const root = mkdtempSync(join(tmpdir(), "holdfast-turn-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return new JsonFileAgentStateStore({ root });
}

// The same turns over a store that serves gate and log inside its saves, over one that does not, and over files.
describe.each<[string, () => AgentStateStore]>([
  ["memory, fused", () => new InMemoryAgentStateStore()],
  ["memory, unfused", () => new InMemoryAgentStateStore({ fused: false })],
  ["JSON files", jsonStore],
])("a turn over %s", (_, store) => {
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
        block.type === "tool_result" ? [block.toolCallId, block.output[0]] : [],
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

  test("interrupted in one session, leaves the other sessions alone", async () => {
    let started = 0;
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const model = scriptedModel(async () => {
      started++;
      await held;
      return "done";
    });
    const agent = new ReActAgent({ name: "a", model, stateStore: store() });
    const calls = ["s1", "s2", "s3"].map((sessionId) =>
      agent.call("work", { userId: "u", sessionId }),
    );
    await expect.poll(() => started).toBe(3);
    expect(await agent.interrupt("u", "s2", "Stop, please.")).toBe("stopped");
    expect((await calls[1])?.reason).toBe("interrupted");
    goOn();
    expect((await Promise.all(calls)).map(({ reason }) => reason)).toEqual([
      "stop",
      "interrupted",
      "stop",
    ]);
    const state = await agent.getAgentState("u", "s2");
    expect(state?.context.map(textOf)).toEqual(["work", "Stop, please."]);
  });

  test("is over before an update and a deletion that were asked for after it", async () => {
    const agent = new ReActAgent({
      name: "a",
      model: scriptedModel(["one"]),
      stateStore: store(),
    });
    let seen = 0;
    const [reply, , deleted] = await Promise.all([
      agent.call("1"),
      agent.updateAgentState({}, (state) => {
        seen = state.context.length;
      }),
      agent.deleteSession({}),
    ]);
    expect({ text: reply.text, seen, deleted }).toEqual({ text: "one", seen: 2, deleted: true });
    expect(await agent.getAgentState()).toBeNull();
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
