import assert from "node:assert/strict";
import {
  AgentState,
  assistantMessage,
  type Message,
  type Usage,
  userMessage,
} from "@holdfast/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { withStaleUsage } from "../src/context-tokens.js";
import { TokenMeter } from "../src/index.js";
import { quarters } from "./bench.js";
import { conversations, stateOf } from "./conversations.js";
import { tools } from "./option-sets.js";
import { runs } from "./runs.js";

const prompt = { system: "s".repeat(40), tools };
const meter = new TokenMeter(quarters());
const fixed = meter.promptTokens(prompt);

/** A message of a hundred tokens. */
const hundred = "x".repeat(4 * 96);
const said = (usage?: Usage): Message => assistantMessage(hundred, { usage });
const asked = (): Message => userMessage(hundred);

function tokensOf(...messages: Message[]) {
  const state = AgentState.create({ sessionId: "s" });
  state.contextMutable().push(...messages);
  return meter.contextTokens(state, prompt);
}

test("without a report, system prompt, tools and messages are counted", () => {
  expect(fixed).toBe(10 + 1 + 2 + 5);
  expect(tokensOf(asked(), said())).toEqual({ total: fixed + 200, scale: 1, reportedMessages: 0 });
});

test("with a report, only what came after it is estimated", () => {
  const usage = { inputTokens: 300, outputTokens: 36 };
  const { total, scale, reportedMessages } = tokensOf(asked(), said(usage), asked());
  expect(total).toBe(336 + 100);
  expect(reportedMessages).toBe(2);
  expect(scale).toBeCloseTo(336 / (fixed + 200));
});

test("the last report counts, not an earlier one", () => {
  const first = { inputTokens: 900, outputTokens: 0 };
  const last = { inputTokens: 400, outputTokens: 0 };
  expect(tokensOf(asked(), said(first), asked(), said(last)).total).toBe(400);
});

test("a report below half of the estimate, of nothing, or of more than there can be is not believed", () => {
  const estimated = { total: fixed + 200, scale: 1, reportedMessages: 0 };
  for (const inputTokens of [0, 1, Math.floor((fixed + 200) / 2) - 1, -5, 9e15])
    expect(tokensOf(asked(), said({ inputTokens, outputTokens: 0 }))).toEqual(estimated);
  const half = { inputTokens: Math.ceil((fixed + 200) / 2), outputTokens: 0 };
  expect(tokensOf(asked(), said(half)).total).toBe(half.inputTokens);
  expect(
    tokensOf(userMessage(hundred, { usage: { inputTokens: 500, outputTokens: 0 } })).scale,
  ).toBe(1);
});

test("a report about a context that was shortened since is not believed, nor an older one", () => {
  const usage = { inputTokens: 300, outputTokens: 0 };
  const messages = withStaleUsage([said(usage), asked(), said(usage), asked()]);
  expect(tokensOf(...messages)).toEqual({ total: fixed + 400, scale: 1, reportedMessages: 0 });
  expect(withStaleUsage(messages)).toEqual(messages);
  expect(tokensOf(...messages, said({ inputTokens: 700, outputTokens: 0 })).total).toBe(700);
});

test("whatever the reports, a size is a finite number of at least half the estimate", () => {
  fc.assert(
    fc.property(conversations(), (conversation) => {
      const state = stateOf(conversation);
      const { total, scale } = meter.contextTokens(state, prompt);
      const estimate = fixed + meter.counter.countMessages(state.context);
      assert.ok(Number.isFinite(total) && Number.isFinite(scale));
      assert.ok(scale >= 0.5 && total >= estimate / 2);
      const stale = AgentState.create({ sessionId: "s" });
      stale.contextMutable().push(...withStaleUsage(state.context));
      assert.deepEqual(meter.contextTokens(stale, prompt), {
        total: estimate,
        scale: 1,
        reportedMessages: 0,
      });
    }),
    runs(),
  );
});

test("counting again costs what was added", () => {
  let counted = 0;
  const counting = new TokenMeter({
    id: "counting",
    countText: () => ++counted,
    countMessages: (messages) => {
      counted += messages.length;
      return messages.length;
    },
    countTools: () => 0,
  });
  const state = AgentState.create({ sessionId: "s" });
  state.contextMutable().push(...Array.from({ length: 500 }, asked));
  counting.contextTokens(state, prompt);
  const first = counted;
  state.contextMutable().push(said({ inputTokens: 10_000, outputTokens: 0 }));
  counting.contextTokens(state, prompt);
  expect(first).toBeGreaterThanOrEqual(501);
  expect(counted - first).toBe(1);
});
