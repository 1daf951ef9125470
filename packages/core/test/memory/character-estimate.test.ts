import fc from "fast-check";
import { expect, test } from "vitest";
import {
  assistantMessage,
  characterEstimate,
  toolResultMessage,
  userMessage,
} from "../../src/index.js";

const counter = characterEstimate();

test.each([
  ["", 0],
  ["a", 1],
  ["four", 1],
  ["five!", 2],
  ["привет", 3],
  ["你好世界", 4],
  ["안녕", 2],
  ["😀", 2],
])("%j is about %i tokens", (text, tokens) => expect(counter.countText(text)).toBe(tokens));

test("a list costs the sum of its messages, and more text never costs less", () => {
  const text = fc.string({ unit: "grapheme" });
  fc.assert(
    fc.property(fc.array(text), text, (texts, more) => {
      const messages = texts.map((each) => userMessage(each));
      const sum = messages.reduce((total, message) => total + counter.countMessages([message]), 0);
      expect(counter.countMessages(messages)).toBe(sum);
      expect(counter.countText(`${texts.join("")}${more}`)).toBeGreaterThanOrEqual(
        counter.countText(texts.join("")),
      );
    }),
  );
});

test("every kind of block counts", () => {
  const empty = counter.countMessages([userMessage([])]);
  const text = "some words that cost something";
  for (const message of [
    userMessage(text),
    userMessage([{ type: "hint", text, source: "s" }]),
    assistantMessage([{ type: "thinking", text }]),
    assistantMessage([{ type: "tool_call", id: "t", name: "n", input: { text } }]),
    toolResultMessage({
      type: "tool_result",
      callId: "t",
      name: "n",
      output: [{ type: "text", text }],
      state: "success",
    }),
    userMessage([
      { type: "data", mediaType: "text/plain", source: { kind: "base64", data: text } },
    ]),
    userMessage([{ type: "data", mediaType: "image/png", source: { kind: "base64", data: "" } }]),
  ])
    expect(counter.countMessages([message])).toBeGreaterThanOrEqual(
      empty + counter.countText(text),
    );
});

test("an image costs the same however many bytes it has", () => {
  const image = (data: string) =>
    userMessage([{ type: "data", mediaType: "image/png", source: { kind: "base64", data } }]);
  expect(counter.countMessages([image("A".repeat(1_000_000))])).toBe(
    counter.countMessages([image("A")]),
  );
});

test("a message is measured once", () => {
  let reads = 0;
  const message = {
    ...userMessage("x"),
    get content() {
      reads++;
      return userMessage("x").content;
    },
  };
  const once = counter.countMessages([message]);
  expect(counter.countMessages([message, message])).toBe(2 * once);
  expect(reads).toBe(1);
});

test("tools cost what their schema takes", () => {
  const tool = { name: "n", description: "d", inputSchema: { type: "object" } };
  expect(counter.countTools([])).toBe(0);
  expect(counter.countTools([tool, { ...tool }])).toBe(2 * counter.countTools([tool]));
  expect(counter.countTools([{ ...tool, description: "d".repeat(400) }])).toBe(
    counter.countTools([tool]) + 99,
  );
});
