import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, expectTypeOf, test } from "vitest";
import { anyMessage, jsonValue, runs } from "../arbitraries.js";
import {
  adoptMessage,
  assistantMessage,
  type Block,
  createMessage,
  InvalidInputError,
  type Message,
  messageBytes,
  messageProblem,
  type ToolCallBlock,
  type ToolResultBlock,
  textOf,
  toolCallsOf,
  toolResultMessage,
  toolResultsOf,
  userMessage,
} from "../values.js";

function isFrozenThroughout(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isFrozenThroughout);
}

function refusal(attempt: () => unknown): string {
  try {
    attempt();
  } catch (error) {
    expect(InvalidInputError.is(error)).toBe(true);
    return (error as Error).message;
  }
  throw new Error("not refused");
}

const blocks: Block[] = [
  { type: "thinking", text: "hm", providerMetadata: { signature: "s" } },
  { type: "text", text: "Hello, " },
  { type: "hint", text: "be brief", source: "planner" },
  { type: "text", text: "world" },
  { type: "tool_call", id: "c1", name: "search", input: { query: "$&" } },
];
const answer: ToolResultBlock = {
  type: "tool_result",
  toolCallId: "c1",
  name: "search",
  output: [{ type: "text", text: "found" }],
  state: "success",
};

describe("a created message", () => {
  test("has a new id and the present time unless told otherwise", () => {
    const before = new Date().toISOString();
    const [a, b] = [userMessage("a"), userMessage("b")];
    expect(a.id).not.toBe(b.id);
    expect(a.createdAt >= before && a.createdAt <= new Date().toISOString()).toBe(true);
    const at = new Date(86_400_000);
    expect(userMessage("c", { id: "mine", createdAt: at })).toEqual({
      id: "mine",
      role: "user",
      content: [{ type: "text", text: "c" }],
      createdAt: "1970-01-02T00:00:00.000Z",
    });
  });

  test("has no properties for what was not given", () => {
    const message = userMessage("a", { name: undefined, usage: undefined, metadata: undefined });
    expect(Object.keys(message).sort()).toEqual(["content", "createdAt", "id", "role"]);
  });

  test("is frozen all the way down and shares nothing with what it was made of", () => {
    fc.assert(
      fc.property(anyMessage, (given) => {
        const before = structuredClone(given);
        const { role, content, ...options } = given;
        const message = createMessage(role, content, options);
        expect(isFrozenThroughout(message)).toBe(true);
        expect(isDeepStrictEqual(message, given)).toBe(true);
        expect(isDeepStrictEqual(given, before)).toBe(true);
        expect(Object.isFrozen(given) || given.content.some(Object.isFrozen)).toBe(false);
        for (const block of message.content) expect(given.content).not.toContain(block);
      }),
      runs(1_000),
    );
  });

  test("keeps a Date in its metadata as text", () => {
    const metadata = { at: new Date(0), nested: [{ at: new Date(0) }] } as never;
    expect(userMessage("a", { metadata }).metadata).toEqual({
      at: "1970-01-01T00:00:00.000Z",
      nested: [{ at: "1970-01-01T00:00:00.000Z" }],
    });
  });

  test("has the role its maker names", () => {
    expect(userMessage("a").role).toBe("user");
    expect(assistantMessage(blocks).role).toBe("assistant");
    expect(toolResultMessage(answer)).toMatchObject({ role: "tool", content: [answer] });
    expect(toolResultMessage([answer, answer]).content).toHaveLength(2);
  });
});

describe("reading a message", () => {
  test("its text is that of its text blocks alone", () => {
    expect(textOf(assistantMessage(blocks))).toBe("Hello, world");
    expect(textOf(toolResultMessage(answer))).toBe("");
    fc.assert(
      fc.property(anyMessage, (message) => {
        const texts = message.content.flatMap((b) => (b.type === "text" ? [b.text] : []));
        expect(textOf(message)).toBe(texts.join(""));
      }),
      runs(500),
    );
  });

  test("its calls and results come in order, with their types", () => {
    const calls = toolCallsOf(assistantMessage(blocks));
    expect(calls.map((call) => call.id)).toEqual(["c1"]);
    expect(toolResultsOf(toolResultMessage(answer))).toEqual([answer]);
    expectTypeOf(calls).toEqualTypeOf<ToolCallBlock[]>();
    expectTypeOf(toolResultsOf(userMessage("a"))).toEqualTypeOf<ToolResultBlock[]>();
  });

  test("its size is that of its JSON in UTF-8, lone surrogates included", () => {
    fc.assert(
      fc.property(anyMessage, (given) => {
        const message = adoptMessage(given);
        const bytes = new TextEncoder().encode(JSON.stringify(message)).length;
        expect(messageBytes(message)).toBe(bytes);
        expect(messageBytes(message)).toBe(bytes);
      }),
      runs(500),
    );
  });
});

describe("what is not a message is refused", () => {
  const good = { id: "m", role: "user", content: [] as unknown[], createdAt: "now" };
  const withBlock = (block: unknown) => ({ ...good, content: [{ type: "text", text: "" }, block] });

  const cases: [value: unknown, problem: string][] = [
    [null, "it is not an object"],
    ["text", "it is not an object"],
    [[], "it is not an object"],
    [{ ...good, id: "" }, "id is not"],
    [{ ...good, id: 1 }, "id is not"],
    [{ ...good, role: "robot" }, "role is not"],
    [{ ...good, name: 1 }, "name is not"],
    [{ ...good, createdAt: 5 }, "createdAt is not"],
    [{ ...good, createdAt: new Date(Number.NaN) }, "createdAt is not"],
    [{ ...good, metadata: [] }, "metadata is not"],
    [{ ...good, usage: {} }, "usage is not"],
    [
      { ...good, usage: { inputTokens: 1, outputTokens: 1, cachedInputTokens: "1" } },
      "usage is not",
    ],
    [{ ...good, content: "text" }, "content is not a list"],
    [withBlock(null), "content[1]: it is not an object"],
    [withBlock({ type: "image" }), "content[1]: unknown block type"],
    [withBlock({ type: "toString" }), "content[1]: unknown block type"],
    [withBlock({ type: "text" }), "content[1]: text is not"],
    [
      withBlock({ type: "thinking", text: "", providerMetadata: "s" }),
      "content[1]: providerMetadata",
    ],
    [withBlock({ type: "hint", text: "a" }), "content[1]: a hint needs"],
    [withBlock({ type: "data" }), "content[1]: data needs a mediaType"],
    [withBlock({ type: "data", mediaType: "a" }), "content[1]: data needs a source"],
    [
      withBlock({ type: "data", mediaType: "a", source: { kind: "base64", url: "u" } }),
      "content[1]: a data source is",
    ],
    [
      withBlock({ type: "data", mediaType: "a", source: { kind: "file", url: "u" } }),
      "content[1]: a data source is",
    ],
    [
      withBlock({ type: "data", mediaType: "a", name: 1, source: { kind: "url", url: "u" } }),
      "content[1]: name is not",
    ],
    [withBlock({ type: "tool_call", id: "" }), "content[1]: a tool_call needs an id"],
    [withBlock({ type: "tool_call", id: "c" }), "content[1]: a tool_call needs a name"],
    [
      withBlock({ type: "tool_call", id: "c", name: "n" }),
      "content[1]: a tool_call needs an input",
    ],
    [withBlock({ ...answer, toolCallId: 1 }), "content[1]: a tool_result needs a toolCallId"],
    [withBlock({ ...answer, name: undefined }), "content[1]: a tool_result needs a name"],
    [withBlock({ ...answer, state: "done" }), "content[1]: state is not"],
    [withBlock({ ...answer, metadata: 1 }), "content[1]: metadata is not"],
    [withBlock({ ...answer, output: "text" }), "content[1]: output is not a list"],
    [withBlock({ ...answer, output: [{ type: "hint" }] }), "content[1]: output[0] is neither"],
    [withBlock({ ...answer, output: [{ type: "text" }] }), "content[1]: output[0]: text is not"],
  ];
  test.each(cases.map(([value, problem]) => ({ value, problem })))(
    "$problem",
    ({ value, problem }) => {
      expect(refusal(() => adoptMessage(value))).toContain(`not a message: ${problem}`);
    },
  );

  test.each([
    ["input", "message.content[0].input.at[1] is NaN"],
    ["providerMetadata", "message.content[0].providerMetadata.at[1] is NaN"],
  ])("NaN in a call's %s is refused by its path", (field, message) => {
    const call = {
      type: "tool_call",
      id: "c",
      name: "n",
      input: {},
      [field]: { at: [0, Number.NaN] },
    };
    expect(refusal(() => assistantMessage([call as never]))).toContain(message);
  });

  test("a function, a cycle and an endless depth are refused by their path", () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    expect(refusal(() => userMessage("a", { metadata: { f: () => 1 } as never }))).toContain(
      "message.metadata.f is a function",
    );
    expect(refusal(() => userMessage("a", { metadata: cycle as never }))).toContain(
      "message.metadata.self",
    );
  });

  test("whatever is thrown at it, it answers with InvalidInputError or with a message", () => {
    const part = fc.oneof(jsonValue, anyMessage as fc.Arbitrary<unknown>);
    const candidate = fc.oneof(
      part,
      fc
        .tuple(anyMessage, fc.constantFrom("id", "role", "content", "usage", "name"), part)
        .map(([message, field, value]) => ({ ...message, [field]: value })),
      fc.tuple(anyMessage, fc.array(part)).map(([message, content]) => ({ ...message, content })),
    );
    fc.assert(
      fc.property(candidate, (value) => {
        let message: Message;
        try {
          message = adoptMessage(value);
        } catch (error) {
          return InvalidInputError.is(error) && messageProblem(value) !== null;
        }
        return messageProblem(message) === null && isDeepStrictEqual(message, value);
      }),
      runs(2_000),
    );
  });
});
