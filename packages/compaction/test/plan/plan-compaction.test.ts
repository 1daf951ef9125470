import assert from "node:assert/strict";
import { assistantMessage, type JsonValue, type Message, userMessage } from "@holdfast/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readCompactionOptions } from "../../src/compaction-options.js";
import {
  budgetOf,
  type CompactionOptions,
  type PlanInput,
  planCompaction,
} from "../../src/index.js";
import { quarters } from "../bench.js";
import { conversations, stateOf } from "../conversations.js";
import { optionSets, windows } from "../option-sets.js";
import { runs } from "../runs.js";

const counter = quarters();
const tokensOf = (message: Message): number => counter.countMessages([message]);

function inputOf(
  messages: readonly Message[],
  options: CompactionOptions,
  rest: Partial<PlanInput> = {},
  window?: number | undefined,
): PlanInput {
  const { truncateArgs, prune, summarize, ...settings } = readCompactionOptions(options);
  const budget = budgetOf({ ...settings, truncateArgs, prune, summarize }, window);
  return {
    messages,
    hasSummary: false,
    openCalls: new Set(),
    tokens: counter.countMessages(messages),
    tokensOf,
    ...{ budget, truncateArgs, prune, summarize, force: false },
    ...rest,
  };
}

test("a plan is the same for the same input, and making it changes nothing", () => {
  fc.assert(
    fc.property(
      conversations(),
      optionSets,
      windows,
      fc.boolean(),
      (conversation, options, window, force) => {
        const state = stateOf(conversation);
        const before = state.toJson();
        const rest = {
          hasSummary: state.summary !== null,
          openCalls: new Set(Object.keys(state.openCalls)),
          force,
        };
        const input = inputOf(state.context, options, rest, window);
        const plan = planCompaction(input);
        assert.deepEqual(planCompaction(input), plan);
        assert.equal(state.toJson(), before);
        if (plan.kind !== "summarize") return;
        for (const { prefix, dropped, kept } of plan.cuts) {
          assert.ok(dropped.length > 0);
          const all = new Set([
            ...state.context.slice(0, rest.hasSummary ? 1 : 0),
            ...dropped,
            ...kept,
          ]);
          assert.equal(all.size, state.context.length, "every message leaves or stays");
          assert.deepEqual(prefix, state.context.slice(0, prefix.length));
          for (const message of dropped) assert.ok(prefix.includes(message));
        }
        const tails = plan.cuts.map(({ kept }) => kept.length);
        assert.deepEqual(
          tails,
          [...tails].sort((a, b) => b - a),
        );
      },
    ),
    runs(),
  );
});

test("a clip that would make the request longer is none", () => {
  // 200 spaces are one token to this counter; the mark in their middle would be many.
  const input: JsonValue = { text: " ".repeat(200) };
  const messages = [
    assistantMessage([{ type: "tool_call", id: "c", name: "write", input }]),
    userMessage("go on"),
  ];
  const words = (message: Message): number => JSON.stringify(message.content).split(/\s+/).length;
  const options = {
    truncateArgs: { triggerMessages: 1, keepMessages: 1, maxArgLength: 100 },
    triggerMessages: 40,
  };
  expect(planCompaction(inputOf(messages, options, { tokensOf: words })).kind).toBe("nothing");
});

test("cheap steps that get under the trigger save the summary; those that do not are left for it", () => {
  const call = (text: string): Message =>
    assistantMessage([{ type: "tool_call", id: "c", name: "write", input: { text } }]);
  const messages = [userMessage("a"), call("x".repeat(4_000)), userMessage("b")];
  const truncateArgs = { triggerMessages: 1, keepMessages: 1, maxArgLength: 100 };
  const enough = planCompaction(inputOf(messages, { truncateArgs, triggerTokens: 500 }));
  expect(enough).toMatchObject({ kind: "clip", actions: ["truncate_args"] });
  const tooLittle = planCompaction(
    inputOf(messages, { truncateArgs, triggerTokens: 30, keepTokens: 5 }),
  );
  expect(tooLittle.kind).toBe("summarize");
  if (tooLittle.kind === "summarize")
    expect(tooLittle.cuts[0]?.prefix).toEqual(messages.slice(0, 2));
  const off = { truncateArgs, triggerTokens: 30, summarize: false };
  expect(planCompaction(inputOf(messages, off)).kind).toBe("clip");
});

test("what cannot be shorter says so above the trigger and is left alone below", () => {
  const messages = [userMessage("one"), userMessage("two")];
  const plan = (rest: Partial<PlanInput>, options: CompactionOptions) =>
    planCompaction(inputOf(messages, options, rest)).kind;
  expect(plan({}, { triggerTokens: 1 })).toBe("stuck");
  expect(plan({ force: true }, { triggerTokens: 1_000 })).toBe("nothing");
  expect(plan({}, { triggerTokens: 1, summarize: false })).toBe("stuck");
});
