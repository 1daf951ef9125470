import {
  InMemoryAgentStateStore,
  type LogRecord,
  type Message,
  ReActAgent,
  type ToolResultBlock,
  tool,
  toolResult,
  toolResultsOf,
} from "@holdfast/core";
import { messageBytes } from "@holdfast/core/plugin-kit";
import { withBlobs } from "@holdfast/core/store-kit";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { pairedModel } from "./valid-pairing.js";

const slot = { agentId: "a", userId: null, sessionId: "default" };
const image = {
  type: "data",
  mediaType: "image/png",
  source: { kind: "base64", data: "aGk=" },
} as const;

async function resultOf(output: unknown): Promise<ToolResultBlock> {
  const model = pairedModel([{ toolCalls: [{ name: "t", input: {} }] }, "done"]);
  const returning = tool({
    name: "t",
    description: "Returns something.",
    input: z.object({}),
    execute: () => output,
  });
  const agent = new ReActAgent({ name: "a", model, tools: [returning] });
  expect((await agent.call("go")).text).toBe("done");
  const state = await agent.getAgentState();
  const [result] = (state?.context ?? []).flatMap(toolResultsOf);
  expect(model.requests[1]?.messages.flatMap(toolResultsOf)).toEqual([result]);
  return result as ToolResultBlock;
}

const text = (value: string) => [{ type: "text", text: value }];

describe("what a tool returns becomes its result", () => {
  class Money {
    readonly amount = 5;
    toJSON() {
      return `${this.amount} EUR`;
    }
  }
  test.each<[string, unknown, unknown]>([
    ["a string, as it is", "hello", text("hello")],
    ["an empty string", "", text("")],
    ["nothing", undefined, text("(no output)")],
    ["null", null, text("null")],
    ["a number", 0, text("0")],
    ["an object, as JSON", { a: [1, { b: null }], gone: undefined }, text('{"a":[1,{"b":null}]}')],
    ["an object that says how", { price: new Money() }, text('{"price":"5 EUR"}')],
    ["a list of blocks, as it is", [{ type: "text", text: "see" }, image], [...text("see"), image]],
    ["a list that only looks like blocks", [{ type: "text" }], text('[{"type":"text"}]')],
    ["an empty list", [], text("[]")],
    ["toolResult() with text", toolResult({ output: "fine" }), text("fine")],
    ["toolResult() with blocks", toolResult({ output: [image] }), [image]],
  ])("%s", async (_, output, expected) => {
    const result = await resultOf(output);
    expect(result.output).toEqual(expected);
    expect(result.state).toBe("success");
  });

  const cycle: Record<string, unknown> = { name: "ring" };
  cycle["self"] = cycle;
  class Handle {
    readonly #secret = 1;
    peek() {
      return this.#secret;
    }
  }
  const shared = { a: 1 };
  test.each<[string, unknown, string]>([
    ["a Map", new Map([["a", 1]]), '{"a":1}'],
    ["a Map whose keys are no strings", new Map([[1, { b: 2 }]]), '[[1,{"b":2}]]'],
    ["an empty Map inside", { found: new Map() }, '{"found":{}}'],
    ["a Set", new Set(["a", 2]), '["a",2]'],
    ["a cycle", cycle, '{"name":"ring","self":"[circular: the object that contains this]"}'],
    ["one object twice, which is no cycle", [shared, shared], '[{"a":1},{"a":1}]'],
    [
      "an Error inside",
      { failed: [new TypeError("no")] },
      '{"failed":[{"name":"TypeError","message":"no"}]}',
    ],
    ["a bigint", 12345678901234567890n, "12345678901234567890"],
    ["a bigint inside", { id: 1n }, '{"id":"1"}'],
    ["NaN", Number.NaN, "NaN"],
    ["Infinity inside", { n: Number.POSITIVE_INFINITY }, '{"n":"Infinity"}'],
    ["a Date", new Date(0), "1970-01-01T00:00:00.000Z"],
    ["a Date that is none", { at: new Date(Number.NaN) }, '{"at":"[Invalid Date]"}'],
    ["a function", () => 1, "[function]"],
    ["a symbol inside", { s: Symbol("s") }, '{"s":"[Symbol(s)]"}'],
    [
      "an instance whose fields are private",
      new Handle(),
      "[Handle: an object without fields of its own that JSON could show]",
    ],
    [
      "a promise inside",
      { later: Promise.resolve(1) },
      '{"later":"[Promise: it was not awaited]"}',
    ],
    ["bytes", Buffer.from("abc"), "[Buffer of 3 bytes]"],
    ["a pattern", /a+/g, "/a+/g"],
    ["an empty object", {}, "{}"],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
  ])("%s, in words where JSON has none", async (_, output, expected) => {
    expect(await resultOf(output)).toMatchObject({ output: text(expected), state: "success" });
  });

  test("an Error, as an error", async () => {
    const result = await resultOf(new RangeError("no such row"));
    expect(result).toMatchObject({
      state: "error",
      output: text("t returned an error: no such row"),
    });
  });

  test("toolResult() with state and metadata", async () => {
    const result = await resultOf(
      toolResult({ output: "no such file", state: "error", metadata: { path: "/x" } }),
    );
    expect(result).toMatchObject({ state: "error", metadata: { path: "/x" } });
  });
});

describe("what no message can hold becomes an error result, never a failed call, and says that the tool has run", () => {
  let deep: unknown = "bottom";
  for (let level = 0; level < 10_000; level++) deep = [deep];
  test.each<[string, unknown]>([
    ["10,000 levels", deep],
    [
      "a toJSON that throws",
      {
        toJSON: () => {
          throw new Error("no");
        },
      },
    ],
    ["toolResult() with bad metadata", toolResult({ output: "x", metadata: { n: Number.NaN } })],
    ["toolResult() with a bad state", toolResult({ output: "x", state: "great" as "success" })],
    ["toolResult() with bad output", toolResult({ output: 1n as unknown as string })],
  ])("%s", async (_, output) => {
    const result = await resultOf(output);
    expect(result.state).toBe("error");
    expect(result.output[0]).toMatchObject({
      type: "text",
      text: expect.stringMatching(/^t has run, but its result cannot be shown: ./),
    });
  });
});

describe.each([true, false])("a result larger than limits.messageBytes, fused: %s", (fused) => {
  const limit = 20_000;

  /** The tool message as the context has it and as the log has it. */
  async function kept(outputs: readonly unknown[]): Promise<[Message, Message]> {
    const stateStore = new InMemoryAgentStateStore({ fused });
    const { log } = stateStore.companions();
    const toolCalls = outputs.map((_, n) => ({ name: "t", input: { n } }));
    const agent = new ReActAgent({
      name: "a",
      model: pairedModel([{ toolCalls }, "done"]),
      stateStore,
      limits: { messageBytes: limit },
      tools: [
        tool({
          name: "t",
          description: "Says much.",
          input: z.object({ n: z.number() }),
          execute: ({ n }) => outputs[n],
        }),
      ],
    });
    expect((await agent.call("go")).text).toBe("done");
    const state = await agent.getAgentState();
    const records = await log.read(slot);
    const logged = records.find(({ message }) => message?.role === "tool") as LogRecord;
    return [
      state?.context.find(({ role }) => role === "tool") as Message,
      (await withBlobs(log, slot, logged)).message as Message,
    ];
  }

  test("is cut in the context and whole in the log", async () => {
    const long = `START${"é".repeat(200_000)}END`;
    const [inContext, inLog] = await kept([long, "short"]);
    expect(messageBytes(inContext)).toBeLessThanOrEqual(limit);
    const [cut, short] = toolResultsOf(inContext);
    const first = cut?.output[0];
    const shown = first?.type === "text" ? first.text : "";
    expect(shown).toMatch(/^STARTé+\n… \d+ characters left out …\né+END$/);
    expect(cut?.output.at(-1)).toMatchObject({ text: expect.stringContaining("conversation log") });
    expect(short?.output).toEqual(text("short"));
    expect(inLog.id).toBe(inContext.id);
    expect(toolResultsOf(inLog)[0]?.output).toEqual(text(long));
  });

  test.each<[string, readonly unknown[]]>([
    [
      "in one large block of data",
      [[{ ...image, source: { kind: "base64", data: "A".repeat(50_000) } }]],
    ],
    [
      "in many small blocks",
      [Array.from({ length: 500 }, (_, n) => ({ type: "text", text: `${n}`.repeat(50) }))],
    ],
    ["in metadata", [toolResult({ output: "x", metadata: { all: "y".repeat(50_000) } })]],
    ["in a URL", [[{ ...image, source: { kind: "url", url: `data:,${"z".repeat(50_000)}` } }]]],
    ["in control characters", ["\u0001".repeat(50_000)]],
    ["together", Array.from({ length: 12 }, () => "w".repeat(3_900))],
  ])("is cut also when it is %s", async (_, outputs) => {
    const [inContext, inLog] = await kept(outputs);
    expect(messageBytes(inContext)).toBeLessThanOrEqual(limit);
    expect(messageBytes(inLog)).toBeGreaterThan(limit);
    expect(toolResultsOf(inContext)).toHaveLength(outputs.length);
  });

  test("is not cut in the middle of a character", async () => {
    const [inContext] = await kept([`x${"😀".repeat(10_000)}`]);
    expect(JSON.stringify(inContext)).not.toMatch(/\\ud[89a-f]/);
  });
});
