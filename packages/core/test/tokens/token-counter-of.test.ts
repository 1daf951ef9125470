import fc from "fast-check";
import { expect, test } from "vitest";
import {
  assistantMessage,
  type Block,
  type DataBlock,
  toolResultMessage,
  userMessage,
} from "../../src/index.js";
import { tokenCounterOf } from "../../src/plugin-kit/index.js";

/** Counts characters, and how often it was asked to. */
function lengthCounter() {
  const texts: string[] = [];
  const counter = tokenCounterOf({
    id: "length",
    countText(text) {
      texts.push(text);
      return text.length;
    },
  });
  return { counter, texts };
}

const { counter } = lengthCounter();
const overhead = counter.countMessages([userMessage([])]);

/** What a block costs beside its message. */
function cost(block: Block): number {
  return counter.countMessages([assistantMessage([block])]) - overhead;
}

function data(mediaType: string, content: string): DataBlock {
  const base64 = Buffer.from(content).toString("base64");
  return { type: "data", mediaType, source: { kind: "base64", data: base64 } };
}

test("it counts text as it was told to, under the id it was given", () => {
  expect(counter.id).toBe("length");
  expect(counter.countText("four")).toBe(4);
});

test("every kind of block costs its text", () => {
  const text = "some words";
  expect(cost({ type: "text", text })).toBe(10);
  expect(cost({ type: "thinking", text })).toBe(10);
  expect(cost({ type: "hint", text, source: "s" })).toBe(10);
  expect(cost({ type: "tool_call", id: "t", name: "run", input: { text } })).toBe(
    3 + JSON.stringify({ text }).length,
  );
  const result = toolResultMessage({
    type: "tool_result",
    toolCallId: "t",
    name: "run",
    output: [
      { type: "text", text },
      { type: "text", text },
    ],
    state: "success",
  });
  expect(counter.countMessages([result]) - overhead).toBe(3 + 20);
});

test.each(["text/plain", "text/csv; charset=utf-8", "application/json", "image/svg+xml"])(
  "%s in a data block costs what it says, not its base64, unless it is an image",
  (mediaType) => {
    const text = "größer als gedacht";
    const isImage = mediaType.startsWith("image/");
    expect(cost(data(mediaType, text))).toBe(isImage ? 1_200 : text.length);
  },
);

test("an image costs the same however many bytes it has, and so does what a url points to", () => {
  const image = cost(data("image/png", "x"));
  expect(image).toBeGreaterThan(0);
  expect(cost(data("image/png", "x".repeat(1_000_000)))).toBe(image);
  const url = { kind: "url", url: `https://example.com/${"x".repeat(9_000)}` } as const;
  expect(cost({ type: "data", mediaType: "application/pdf", source: url })).toBe(image);
});

test("other files cost by their size, without being read as text", () => {
  const { counter, texts } = lengthCounter();
  const tokens = (bytes: number) =>
    counter.countMessages([userMessage([data("application/pdf", "x".repeat(bytes))])]);
  expect(tokens(10)).toBe(overhead + 1_200);
  expect(tokens(6_000_000) / tokens(600_000)).toBeCloseTo(10, 1);
  expect(texts).toEqual([]);
});

test("a list costs the sum of its messages", () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (texts) => {
      const messages = texts.map((text) => userMessage(text));
      const sum = messages.reduce((total, message) => total + counter.countMessages([message]), 0);
      expect(counter.countMessages(messages)).toBe(sum);
    }),
  );
});

test("a message and a tool are measured once", () => {
  const { counter, texts } = lengthCounter();
  const message = userMessage("said once");
  const tool = { name: "n", description: "does", inputSchema: { type: "object" } };
  const once = counter.countMessages([message]) + counter.countTools([tool]);
  const asked = texts.length;
  expect(counter.countMessages([message, message]) + counter.countTools([tool, tool])).toBe(
    2 * once,
  );
  expect(texts).toHaveLength(asked);
});

test("the last text is not counted again, another one is", () => {
  const { counter, texts } = lengthCounter();
  expect([counter.countText("prompt"), counter.countText("prompt")]).toEqual([6, 6]);
  counter.countMessages([userMessage("hi")]);
  expect(counter.countText("prompt")).toBe(6);
  expect(counter.countText("tpmorp")).toBe(6);
  expect(counter.countText("longer prompt")).toBe(13);
  expect(texts).toEqual(["prompt", "hi", "tpmorp", "longer prompt"]);
});

test("tools cost name, description and schema", () => {
  const inputSchema = { type: "object" };
  expect(counter.countTools([])).toBe(0);
  expect(counter.countTools([{ name: "n", description: "four", inputSchema }])).toBe(
    5 + JSON.stringify(inputSchema).length,
  );
});
