import { TokenMeter } from "@holdfast/compaction";
import { AgentState, assistantMessage, characterEstimate, userMessage } from "@holdfast/core";
import { expect, test } from "vitest";

/** How many messages are counted for one step in a session of so many. */
function countedPerStep(messages: number, usage: boolean): number {
  const counter = characterEstimate();
  let counted = 0;
  const meter = new TokenMeter({
    ...counter,
    countMessages(list) {
      counted += list.length;
      return counter.countMessages(list);
    },
  });
  const state = AgentState.create({ sessionId: "s" });
  const add = () =>
    state.contextMutable().push(
      userMessage("How far is my order?"),
      assistantMessage("It is on its way.", {
        ...(usage && { usage: { inputTokens: messages * 15, outputTokens: 8 } }),
      }),
    );
  for (let turn = 0; turn < messages / 2; turn++) add();
  const prompt = { system: "Be brief.", tools: [] };
  meter.contextTokens(state, prompt);
  counted = 0;
  add();
  meter.contextTokens(state, prompt);
  return counted;
}

test("a step counts its own messages alone, with 5,000 in the session as with 50", () => {
  expect(countedPerStep(50, true)).toBeGreaterThan(0);
  expect(countedPerStep(5_000, true)).toBe(countedPerStep(50, true));
});

test("where the provider reports no usage, a step looks at no more messages of 5,000 than of 500", () => {
  expect(countedPerStep(5_000, false)).toBe(countedPerStep(500, false));
});
