import assert from "node:assert/strict";
import { assistantMessage, type Message, toolResultMessage, userMessage } from "@holdfast/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { currentRequest, cuttable, tailStart } from "../../src/plan/cuts.js";
import { conversations } from "../conversations.js";
import { runs } from "../runs.js";

const call = (...ids: string[]): Message =>
  assistantMessage(ids.map((id) => ({ type: "tool_call", id, name: "look", input: {} })));
const result = (...ids: string[]): Message =>
  toolResultMessage(
    ids.map((toolCallId) => ({
      type: "tool_result",
      toolCallId,
      name: "look",
      output: [],
      state: "success",
    })),
  );

test("ids used again do not tie turns together, late results tie what lies between", () => {
  const none = new Set<string>();
  const again = [call("x"), result("x"), call("x"), result("x")];
  expect(cuttable(again, none)).toEqual([true, false, true, false, true]);
  const late = [call("x", "y"), result("x"), call("z"), result("z"), result("y"), userMessage("a")];
  expect(cuttable(late, none)).toEqual([true, false, false, false, false, true, true]);
  const open = [call("x"), result("x"), call("y", "z"), result("y")];
  expect(cuttable(open, new Set(["z"]))).toEqual([true, false, true, false, false]);
  expect(cuttable([result("lost"), call("x")], none)).toEqual([true, true, true]);
});

test("a cut is allowed exactly where no pair spans it and no open call is in front of it", () => {
  fc.assert(
    fc.property(conversations(), ({ messages, openCalls }) => {
      const canCut = cuttable(messages, new Set(Object.keys(openCalls)));
      assert.equal(canCut.length, messages.length + 1);
      assert.ok(canCut[0]);
      const spanning = messages.map((_, cut) => {
        const waiting = new Map<string, number>();
        for (const { content } of messages.slice(0, cut))
          for (const block of content) {
            if (block.type === "tool_call") waiting.set(block.id, (waiting.get(block.id) ?? 0) + 1);
            else if (block.type === "tool_result")
              waiting.set(block.toolCallId, Math.max(0, (waiting.get(block.toolCallId) ?? 0) - 1));
          }
        let spans = Object.keys(openCalls).some((id) => (waiting.get(id) ?? 0) > 0);
        const behind = new Map<string, number>();
        for (const { content } of messages.slice(cut))
          for (const block of content) {
            if (block.type === "tool_call") behind.set(block.id, (behind.get(block.id) ?? 0) + 1);
            else if (block.type === "tool_result") {
              const near = behind.get(block.toolCallId) ?? 0;
              if (near > 0) behind.set(block.toolCallId, near - 1);
              else spans ||= (waiting.get(block.toolCallId) ?? 0) > 0;
            }
          }
        return !spans;
      });
      assert.deepEqual(canCut.slice(0, -1), spanning);
    }),
    runs(),
  );
});

test("a tail begins at a cut, holds so many messages or more, or so many tokens or fewer", () => {
  const size = (message: Message): number => message.content.length * 10;
  const limit = fc.record({
    messages: fc.option(fc.nat({ max: 12 })),
    tokens: fc.option(fc.nat({ max: 120 })),
  });
  fc.assert(
    fc.property(conversations(), limit, fc.nat({ max: 1 }), (conversation, most, first) => {
      const { messages, openCalls } = conversation;
      const from = Math.min(first, messages.length);
      const canCut = cuttable(messages, new Set(Object.keys(openCalls)));
      const start = tailStart(messages, canCut, from, most, size);
      assert.ok(start >= from && start <= messages.length);
      const cuts = canCut.flatMap((can, index) => (can && index >= from ? [index] : []));
      if (cuts.length === 0) return assert.equal(start, from);
      assert.ok(cuts.includes(start));
      const shortest = cuts.at(-1) as number;
      const tokensFrom = (index: number): number =>
        messages.slice(index).reduce((sum, message) => sum + size(message), 0);
      // By hand: of all cuts the longest tail within the tokens, no longer than the messages ask for.
      const fits = (cut: number): boolean =>
        cut === shortest || most.tokens === null || tokensFrom(cut) <= most.tokens;
      const enough = cuts.findLast(
        (cut) => most.messages !== null && messages.length - cut >= most.messages,
      );
      const expected = cuts.find((cut) => fits(cut) && (enough === undefined || cut >= enough));
      assert.equal(start, expected);
    }),
    runs(),
  );
});

test("the current request is the last run of what the user said; hints and results are not", () => {
  const hint = userMessage([{ type: "hint", text: "h", source: "s" }]);
  const answer = userMessage(result("x").content);
  const [one, two, three] = [userMessage("1"), userMessage("2"), userMessage("3")];
  expect(currentRequest([])).toEqual([]);
  expect(currentRequest([hint, answer])).toEqual([]);
  expect(currentRequest([one, call("x"), two, three, call("y"), hint, answer])).toEqual([2, 3]);
});

test("what is said into a turn does not take the place of its request", () => {
  const hint = userMessage([{ type: "hint", text: "h", source: "s" }]);
  const said = (text: string) => userMessage(text);
  const step = (id: string) => [call(id), result(id)];
  const before = [said("0"), assistantMessage("done")];
  const turn = [...before, said("1"), ...step("a"), said("2"), said("3"), ...step("b"), hint];
  expect(currentRequest(turn)).toEqual([2, 5, 6]);
  expect(currentRequest([...turn, said("4"), ...step("c")])).toEqual([2, 5, 6, 10]);
  // Words that came with results cannot stay without the calls.
  const mixed = userMessage([...result("a").content, { type: "text", text: "t" }]);
  expect(currentRequest([said("1"), call("a"), mixed, ...step("b"), said("2")])).toEqual([5]);
});

test("of a turn that is steered without end the first and the last messages stay, and no more", () => {
  const request = [userMessage("first"), userMessage("second")];
  const steers = Array.from({ length: 50 }, (_, index) => userMessage(`steered ${index}`));
  let kept: readonly Message[] = request;
  for (const [index, steer] of steers.entries()) {
    // What a compaction leaves of it stands together, with nothing between.
    const context = [...kept, call(`c${index}`), result(`c${index}`), steer];
    kept = currentRequest(context).map((at) => context[at] as Message);
    expect(kept.length).toBeLessThanOrEqual(8);
    expect(kept).toEqual(expect.arrayContaining(request));
    expect(kept).toEqual(expect.arrayContaining(steers.slice(Math.max(0, index - 3), index + 1)));
  }
  const long = steers.slice(0, 20);
  expect(currentRequest(long)).toHaveLength(20);
  expect(currentRequest([...request, call("x"), result("x"), ...long])).toHaveLength(22);
});
