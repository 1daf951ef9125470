import assert from "node:assert/strict";
import {
  assistantMessage,
  type JsonValue,
  type Message,
  toolResultMessage,
  userMessage,
} from "@holdfast/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { truncateArguments } from "../../src/plan/truncate-arguments.js";
import { conversations } from "../conversations.js";
import { runs } from "../runs.js";
import { truncating } from "./settings.js";

const openCalls: ReadonlySet<string> = new Set();
const rested = { tokens: 0, urgent: false, openCalls };
const urgent = { tokens: 0, urgent: true, openCalls };

function strings(value: JsonValue): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(strings) : [];
}

test("only string arguments in front of the boundary are clipped, and clipping again changes nothing", () => {
  const sizes = fc.record({
    keepMessages: fc.nat({ max: 6 }),
    maxArgLength: fc.integer({ min: 19, max: 120 }),
  });
  fc.assert(
    fc.property(conversations(), sizes, ({ messages }, given) => {
      const options = truncating({ ...given, triggerMessages: 1 });
      const said = JSON.stringify(messages);
      const clipped = truncateArguments(messages, options, urgent);
      assert.equal(JSON.stringify(messages), said);
      assert.equal(truncateArguments(clipped, options, urgent), clipped);
      const boundary = messages.length - given.keepMessages;
      for (const [index, message] of messages.entries()) {
        const after = clipped[index] as Message;
        if (index >= boundary) assert.equal(after, message);
        if (after === message) continue;
        const { metadata, content, ...rest } = after;
        const { metadata: _, content: before, ...same } = message;
        assert.deepEqual(rest, same);
        assert.equal(metadata?.["truncatedArgs"], true);
        for (const [at, block] of content.entries()) {
          const original = before[at];
          if (block.type !== "tool_call" || original?.type !== "tool_call") {
            assert.equal(JSON.stringify(block), JSON.stringify(original));
            continue;
          }
          for (const text of strings(block.input)) assert.ok(text.length <= given.maxArgLength);
          const shape = (input: JsonValue): string =>
            JSON.stringify(input, (_, value) => (typeof value === "string" ? "" : value));
          assert.equal(shape(block.input), shape(original.input));
        }
      }
    }),
    runs(),
  );
});

test("from a call that waits for an answer on nothing is clipped: what runs is what was shown", () => {
  const options = truncating({ triggerMessages: 1, keepMessages: 0, maxArgLength: 20 });
  const input = { text: "x".repeat(50) };
  const call = (id: string): Message =>
    assistantMessage([{ type: "tool_call", id, name: "write", input }]);
  const answer = (toolCallId: string): Message =>
    toolResultMessage({
      ...{ type: "tool_result", toolCallId, name: "write", output: [], state: "success" },
    });
  // The id was used before, by a call that has its result.
  const messages = [call("a"), answer("a"), call("a"), userMessage("hm"), call("b"), answer("b")];
  const isClipped = (open: readonly string[]): boolean[] => {
    const after = truncateArguments(messages, options, { ...urgent, openCalls: new Set(open) });
    return after.map((message, index) => message !== messages[index]);
  };
  expect(isClipped([])).toEqual([true, false, true, false, true, false]);
  expect(isClipped(["a"])).toEqual([true, false, false, false, false, false]);
});

test("a key called __proto__ stays a key like any other", () => {
  const input = JSON.parse(`{"__proto__": {"text": "${"x".repeat(50)}"}, "n": 1}`) as JsonValue;
  const message = assistantMessage([{ type: "tool_call", id: "c", name: "write", input }]);
  const options = truncating({ triggerMessages: 1, keepMessages: 0, maxArgLength: 20 });
  const [clipped] = truncateArguments([message], options, rested);
  const [block] = clipped?.content ?? [];
  if (block?.type !== "tool_call") throw new TypeError("the call is still there");
  expect(JSON.stringify(block.input)).toBe('{"__proto__":{"text":"x... [truncated] ..."},"n":1}');
});

test("nothing is clipped below both triggers", () => {
  const message = assistantMessage([
    { type: "tool_call", id: "c", name: "write", input: "x".repeat(5_000) },
  ]);
  const options = truncating({ triggerMessages: 2, triggerTokens: 100, keepMessages: 0 });
  const messages = [message];
  expect(truncateArguments(messages, options, { ...urgent, tokens: 99 })).toBe(messages);
  expect(truncateArguments(messages, options, { ...rested, tokens: 100 })).not.toBe(messages);
  const two = [message, userMessage("hi")];
  expect(truncateArguments(two, options, rested)).not.toBe(two);
});

test("over 200 turns old messages are rewritten once in a while, not at every step", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 30 }),
      fc.integer({ min: 1, max: 3 }),
      (keepMessages, every) => {
        const options = truncating({ keepMessages, triggerMessages: 1, maxArgLength: 50 });
        let messages: readonly Message[] = [];
        let rewrites = 0;
        for (let turn = 0; turn < 200; turn++) {
          const id = `c-${turn}`;
          const input = { text: turn % every === 0 ? "x".repeat(60) : "short" };
          messages = [
            ...messages,
            assistantMessage([{ type: "tool_call", id, name: "write", input }], { id }),
            toolResultMessage(
              { type: "tool_result", toolCallId: id, name: "write", output: [], state: "success" },
              { id: `r-${turn}` },
            ),
          ];
          const next = truncateArguments(messages, options, rested);
          if (next !== messages) rewrites++;
          messages = next;
        }
        assert.ok(rewrites > 0);
        assert.ok(rewrites <= messages.length / keepMessages + 1, `${rewrites} rewrites`);
      },
    ),
    runs(20, 400),
  );
});
