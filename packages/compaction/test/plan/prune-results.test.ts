import assert from "node:assert/strict";
import {
  assistantMessage,
  type Message,
  type ToolResultBlock,
  toolResultMessage,
} from "@holdfast/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { pruneResults } from "../../src/plan/prune-results.js";
import { quarters } from "../bench.js";
import { conversations } from "../conversations.js";
import { runs } from "../runs.js";
import { pruning } from "./settings.js";

const counter = quarters();
const tokensOf = (message: Message): number => counter.countMessages([message]);
const total = (messages: readonly Message[]): number => counter.countMessages(messages);

function result(callId: string, text: string, name = "look"): ToolResultBlock {
  return {
    type: "tool_result",
    toolCallId: callId,
    name,
    output: [{ type: "text", text }],
    state: "success",
  };
}

test("pruning wins what it has to, spares the newest results, and has nothing left to do after", () => {
  const sizes = fc.record({
    protectTokens: fc.nat({ max: 3_000 }),
    minimumTokens: fc.nat({ max: 500 }),
    maxResultChars: fc.integer({ min: 200, max: 600 }),
  });
  let pruned = 0;
  fc.assert(
    fc.property(conversations(), sizes, ({ messages }, given) => {
      const options = pruning(given);
      const after = pruneResults(messages, options, tokensOf);
      if (after === messages) return;
      pruned++;
      assert.equal(after.length, messages.length);
      assert.ok(total(messages) - total(after) >= Math.max(1, given.minimumTokens));
      assert.equal(pruneResults(after, options, tokensOf), after);
      let newest = 0;
      for (const [back, message] of [...messages].reverse().entries()) {
        const now = after[after.length - 1 - back] as Message;
        const results = message.content.filter(({ type }) => type === "tool_result");
        newest += results.length > 0 ? tokensOf(message) : 0;
        if (newest <= given.protectTokens || results.length === 0) assert.equal(now, message);
        assert.ok(tokensOf(now) <= tokensOf(message));
        for (const block of now === message ? [] : now.content)
          if (block.type === "tool_result")
            for (const part of block.output)
              if (part.type === "text") assert.ok(part.text.length <= given.maxResultChars);
      }
    }),
    runs(2_000),
  );
  assert.ok(pruned > 50, `pruned ${pruned} times`);
});

test("a result that would cost more when clipped stays whole", () => {
  // To this counter a text is as long as its different words.
  const words = (message: Message): number =>
    new Set(JSON.stringify(message.content).split(/\s+/)).size;
  const same = toolResultMessage(result("a", "same ".repeat(100)));
  const other = toolResultMessage(
    result("b", Array.from({ length: 300 }, (_, index) => `w${index}`).join(" ")),
  );
  const options = pruning({ protectTokens: 0, minimumTokens: 0, maxResultChars: 200 });
  const [first, second] = pruneResults([same, other, assistantMessage("ok")], options, words);
  expect(first).toBe(same);
  expect(second).not.toBe(other);
});

test("excluded tools and data keep what they have, and what was pruned is told", () => {
  const long = "line ".repeat(400);
  const picture = {
    type: "data",
    mediaType: "image/png",
    source: { kind: "url", url: "https://example.org/a.png" },
  } as const;
  const message = toolResultMessage([
    result("a", long, "read"),
    { ...result("b", long), output: [{ type: "text", text: long }, picture] },
  ]);
  const options = pruning({
    protectTokens: 0,
    minimumTokens: 0,
    exclude: ["read"],
    maxResultChars: 300,
  });
  const [after] = pruneResults([message, assistantMessage("ok")], options, tokensOf);
  const [kept, clipped] = after?.content ?? [];
  expect(kept).toEqual(message.content[0]);
  if (clipped?.type !== "tool_result") throw new TypeError("the result is still there");
  expect(clipped.output[1]).toEqual(picture);
  expect(clipped.metadata).toEqual({ prunedChars: 2_000 });
  const [text] = clipped.output;
  expect(text?.type === "text" && text.text).toMatch(
    /^line line[\s\S]*1700 characters pruned[\s\S]*line $/,
  );
});

test("what the model has not seen yet stays whole", () => {
  const message = toolResultMessage(result("a", "line ".repeat(400)));
  const options = pruning({ protectTokens: 0, minimumTokens: 0, maxResultChars: 300 });
  const unseen = [assistantMessage("I will look."), message];
  expect(pruneResults(unseen, options, tokensOf)).toBe(unseen);
  const seen = [...unseen, assistantMessage("I see.")];
  expect(pruneResults(seen, options, tokensOf)).not.toBe(seen);
});
