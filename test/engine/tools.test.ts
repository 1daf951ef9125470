import {
  type AgentEvent,
  InMemoryAgentStateStore,
  ReActAgent,
  type ReActAgentOptions,
  type Tool,
  type ToolResultBlock,
  textOf,
  tool,
  toolCallsOf,
  toolResultsOf,
} from "@holdfast/core";
import type { ScriptedToolCall } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { pairedModel, stateProblem } from "./valid-pairing.js";

const anything = z.record(z.string(), z.unknown());

function simple(name: string, execute: Tool["execute"], more: object = {}): Tool {
  return tool({ name, description: name, input: anything, execute: execute as never, ...more });
}

/** Runs one turn in which the model makes these calls, and returns the results it sees. */
async function resultsOf(
  calls: readonly ScriptedToolCall[],
  options: Partial<ReActAgentOptions>,
): Promise<readonly ToolResultBlock[]> {
  const model = pairedModel([{ toolCalls: calls }, "done"]);
  const agent = new ReActAgent({ name: "a", model, ...options });
  expect((await agent.call("go")).text).toBe("done");
  const state = await agent.getAgentState();
  expect(state && stateProblem(state)).toBeNull();
  return (model.requests[1]?.messages ?? []).flatMap(toolResultsOf);
}

function shown(result: ToolResultBlock | undefined): string {
  return (result?.output ?? []).map((block) => (block.type === "text" ? block.text : "")).join("");
}

describe.each([true, false])("tool calls of one step, fused: %s", (fused) => {
  const options = () => ({ stateStore: new InMemoryAgentStateStore({ fused }) });

  test("run at the same time: two that wait for each other both end", async () => {
    let meet = () => {};
    let arrived = 0;
    const both = new Promise<void>((resolve) => {
      meet = resolve;
    });
    const wait = simple("wait", async () => {
      if (++arrived === 2) meet();
      await both;
      return "met";
    });
    const calls = [
      { name: "wait", input: {} },
      { name: "wait", input: {} },
    ];
    const results = await resultsOf(calls, { ...options(), tools: [wait] });
    expect(results.map(shown)).toEqual(["met", "met"]);
  });

  test("are answered in their order, whichever ends first", async () => {
    let finishSlow = () => {};
    const slow = simple(
      "slow",
      () =>
        new Promise((resolve) => {
          finishSlow = () => resolve("slow one");
        }),
    );
    const fast = simple("fast", () => {
      setImmediate(() => finishSlow());
      return "fast one";
    });
    const calls = [
      { name: "slow", input: {} },
      { name: "fast", input: {} },
    ];
    const results = await resultsOf(calls, { ...options(), tools: [slow, fast] });
    expect(results.map(shown)).toEqual(["slow one", "fast one"]);
  });

  test("that cannot run are answered with words the model can act on, beside those that can", async () => {
    const add = tool({
      name: "add",
      description: "Adds.",
      input: z.object({ a: z.number(), b: z.number() }),
      execute: ({ a, b }) => a + b,
    });
    const results = await resultsOf(
      [
        { name: "add", input: { a: "one" } },
        { name: "subtract", input: {} },
        { name: "add", input: { a: 1, b: 2 } },
        { name: "add", input: "a=1" },
      ],
      { ...options(), tools: [add] },
    );
    expect(results.map(({ state }) => state)).toEqual(["error", "error", "success", "error"]);
    expect(shown(results[0])).toMatch(/^Invalid input for add: a: .*number.*; b: /);
    expect(shown(results[1])).toBe("There is no tool subtract. There are: add.");
    expect(shown(results[2])).toBe("3");
    expect(shown(results[3])).toMatch(/^Invalid input for add: /);
  });

  test("whose arguments are a text that holds JSON say so", async () => {
    const add = tool({
      name: "add",
      description: "Adds.",
      input: z.object({ a: z.number() }),
      execute: ({ a }) => a,
    });
    const [result] = await resultsOf([{ name: "add", input: '{"a": 1}' }], {
      ...options(),
      tools: [add],
    });
    expect(result?.state).toBe("error");
    expect(shown(result)).toMatch(
      /^Invalid input for add: .*; the arguments are a text that holds JSON; pass the object itself$/,
    );
  });

  test("whose arguments are broken JSON say so, and where", async () => {
    const add = tool({
      name: "add",
      description: "Adds.",
      input: z.object({ a: z.number(), b: z.number() }),
      execute: ({ a, b }) => a + b,
    });
    const results = await resultsOf(
      [
        { name: "add", input: '{"a": 1, b: 2}' },
        { name: "add", input: '{"a": 1, "b": "tw' },
        { name: "add", input: '"a JSON string"' },
      ],
      { ...options(), tools: [add] },
    );
    expect(results.map(shown)).toEqual([
      'Invalid input for add: the arguments are not valid JSON. At character 10 a key in double quotes was expected: {"a": 1, ⟨here⟩b: 2}',
      'Invalid input for add: the arguments are not valid JSON. At character 18 it ends there, in the middle of a string: {"a": 1, "b": "tw⟨here⟩',
      expect.stringMatching(/^Invalid input for add: .*expected object/),
    ]);
  });

  test("that throw: events have name, message and stack, the model only the message", async () => {
    const events: AgentEvent[] = [];
    const failing = simple("t", () => {
      throw new RangeError("disk full");
    });
    const odd = simple("odd", () => {
      throw "no luck";
    });
    const calls = ["t", "odd", "fine"].map((name) => ({ name, input: {} }));
    const results = await resultsOf(calls, {
      ...options(),
      tools: [failing, odd, simple("fine", () => "ok")],
      onEvent: (event) => events.push(event),
    });
    expect(JSON.stringify(results)).not.toContain("tools.test");
    const errors = events.flatMap((event) => (event.type === "tool_result" ? [event.error] : []));
    expect(errors).toHaveLength(3);
    expect(errors).toContainEqual({
      name: "RangeError",
      message: "disk full",
      stack: expect.stringMatching(/^RangeError: disk full\n *at .*tools\.test/),
    });
    expect(errors).toContainEqual({ name: "string", message: "no luck" });
    expect(errors).toContain(undefined);
  });

  test("of a model that has no tools are answered too", async () => {
    const results = await resultsOf([{ name: "magic", input: {} }], options());
    expect(shown(results[0])).toBe("There is no tool magic. There are: none.");
  });

  test.each<[string, unknown, string]>([
    ["an Error", new Error("disk full"), "t failed: disk full"],
    ["an Error without a message", new RangeError(), "t failed: RangeError"],
    ["a string", "no luck", "t failed: no luck"],
    ["undefined", undefined, "t failed: undefined"],
    ["an object with a code", { code: 5 }, "t failed: code 5"],
    ["an object with a message", { code: 5, message: "no luck" }, "t failed: no luck"],
    ["another object", { body: "secret" }, "t failed: it threw an object without a message"],
    ["an object without a prototype", Object.create(null), "t failed"],
    ["an empty list", [], "t failed: it threw an object without a message"],
    ["a Map", new Map(), "t failed: it threw an object without a message"],
    ["a message that is no text", Object.assign(new Error(), { message: {} }), "t failed: Error"],
    ["an error whose message throws", hostile("message"), "t failed: it threw something that"],
    ["an error whose stack throws", hostile("stack"), "t failed: no luck"],
  ])("that throw %s become an error the model can read", async (_, thrown, text) => {
    const failing = simple("t", () => {
      throw thrown;
    });
    const [result] = await resultsOf([{ name: "t", input: {} }], {
      ...options(),
      tools: [failing],
    });
    expect(result?.state).toBe("error");
    expect(shown(result)).toContain(text);
  });

  test("whose schema throws become an error the model can read", async () => {
    const picky = tool({
      name: "picky",
      description: "Picky.",
      input: z.object({ date: z.string().transform((date) => new Date(date).toISOString()) }),
      execute: ({ date }) => date,
    });
    const calls = [{ name: "picky", input: { date: "someday" } }];
    const [result] = await resultsOf(calls, { ...options(), tools: [picky] });
    expect(result?.state).toBe("error");
    expect(shown(result)).toContain("Invalid input for picky");
  });

  test("get their input as the schema made it", async () => {
    const lengths: unknown[] = [];
    const measure = tool({
      name: "measure",
      description: "Measures.",
      input: z.object({
        word: z.string().transform((word) => word.length),
        unit: z.string().default("chars"),
      }),
      execute: (input) => {
        lengths.push(input);
        return "ok";
      },
    });
    await resultsOf([{ name: "measure", input: { word: "four" } }], {
      ...options(),
      tools: [measure],
    });
    expect(lengths).toEqual([{ word: 4, unit: "chars" }]);
  });
});

/** An error of which one field cannot be read. */
function hostile(field: "message" | "stack"): Error {
  return Object.defineProperty(new Error("no luck"), field, {
    get() {
      throw new Error("not to be read");
    },
  });
}

describe("a tool's time", () => {
  test("is the tool's timeoutMs before the agent's; the tool is told by its signal", async () => {
    const reasons: unknown[] = [];
    const stubborn = simple(
      "stubborn",
      (_input, ctx) =>
        new Promise(() => {
          ctx.signal?.addEventListener("abort", () => reasons.push(ctx.signal?.reason));
        }),
      { timeoutMs: 5 },
    );
    const [result] = await resultsOf([{ name: "stubborn", input: {} }], {
      tools: [stubborn],
      toolTimeoutMs: 600_000,
    });
    expect(result?.state).toBe("error");
    expect(shown(result)).toContain("stubborn gave no result within 5 ms");
    expect(reasons).toMatchObject([{ name: "TimeoutError" }]);
  });

  test("is toolTimeoutMs for tools that say nothing, and does not hold the others back", async () => {
    const never = simple("never", () => new Promise(() => {}));
    const quick = simple("quick", () => "quick");
    const calls = [
      { name: "never", input: {} },
      { name: "quick", input: {} },
    ];
    const results = await resultsOf(calls, { tools: [never, quick], toolTimeoutMs: 5 });
    expect(results.map(({ state }) => state)).toEqual(["error", "success"]);
  });

  test("running out, a tool that heeds the signal still gets its last word in", async () => {
    const heeding = simple(
      "heeding",
      (_input, ctx) =>
        new Promise((resolve) => {
          ctx.signal?.addEventListener("abort", () => resolve("half done"));
        }),
      { timeoutMs: 5 },
    );
    const [result] = await resultsOf([{ name: "heeding", input: {} }], { tools: [heeding] });
    expect([result?.state, shown(result)]).toEqual(["success", "half done"]);
  });
});

test("a time no timer can count is a long time", async () => {
  const wait = () => new Promise((resolve) => setTimeout(resolve, 10, "in time"));
  const call = [{ name: "t", input: {} }];
  const own = await resultsOf(call, { tools: [simple("t", wait, { timeoutMs: 2 ** 31 })] });
  expect(own.map(shown)).toEqual(["in time"]);
  const agents = await resultsOf(call, { tools: [simple("t", wait)], toolTimeoutMs: 2 ** 40 });
  expect(agents.map(shown)).toEqual(["in time"]);
});

describe.each([true, false])("ids of tool calls, fused: %s", (fused) => {
  test("are unique within a session though the provider repeats its own, which are kept", async () => {
    const model = pairedModel((_, index) =>
      index % 2 === 0
        ? {
            toolCalls: [
              { name: "t", input: {}, id: "call_0" },
              { name: "t", input: {}, id: "call_0" },
            ],
          }
        : "done",
    );
    const stateStore = new InMemoryAgentStateStore({ fused });
    const tools = [simple("t", () => "ok")];
    for (const turn of [1, 2, 3])
      await new ReActAgent({ name: "a", model, tools, stateStore }).call(`turn ${turn}`);
    const state = await new ReActAgent({ name: "a", model, stateStore }).getAgentState();
    const callers = (state?.context ?? []).filter((message) => toolCallsOf(message).length > 0);
    const ids = callers.flatMap(toolCallsOf).map(({ id }) => id);
    expect(new Set(ids).size).toBe(6);
    for (const message of callers) {
      const provided = message.metadata?.["providerCallIds"] as Record<string, string>;
      expect(toolCallsOf(message).map(({ id }) => provided[id])).toEqual(["call_0", "call_0"]);
    }
    expect(state?.context.filter(({ role }) => role === "user").map(textOf)).toHaveLength(3);
  });
});
