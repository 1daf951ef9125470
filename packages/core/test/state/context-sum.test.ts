import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../arbitraries.js";
import { AgentState, type Message, userMessage } from "../values.js";

const chars = (message: Message): number => JSON.stringify(message.content).length;
const words = (count: number) => userMessage("w ".repeat(count));

const edit = fc.oneof(
  fc.record({ kind: fc.constant("push" as const), words: fc.nat(20) }),
  fc.record({ kind: fc.constant("replace" as const), at: fc.nat(10), words: fc.nat(20) }),
  fc.record({ kind: fc.constant("splice" as const), at: fc.nat(10), remove: fc.nat(3) }),
  fc.record({ kind: fc.constant("replaceAll" as const), keep: fc.nat(10), words: fc.nat(20) }),
  fc.record({ kind: fc.constant("summary" as const), text: fc.option(fc.string()) }),
  fc.record({ kind: fc.constant("next" as const) }),
  fc.record({ kind: fc.constant("ask" as const) }),
);

test("for any edits the sum is that of the present messages", () => {
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 20 }), (edits) => {
      let state = AgentState.create({ sessionId: "s" });
      for (const step of edits) {
        const editor = state.contextMutable();
        if (step.kind === "push") editor.push(words(step.words));
        else if (step.kind === "replace" && step.at < editor.length)
          editor.replace(step.at, words(step.words));
        else if (step.kind === "splice") editor.splice(step.at, step.remove, words(1));
        else if (step.kind === "replaceAll")
          editor.replaceAll([...state.context.slice(0, step.keep), words(step.words)]);
        else if (step.kind === "summary") state.summary = step.text;
        else if (step.kind === "next") state = state.successor();
        else if (step.kind === "ask") state.contextSum(chars);
      }
      const whole = state.context.reduce((sum, message) => sum + chars(message), 0);
      expect(state.contextSum(chars)).toBe(whole);
      expect(state.contextSum(() => 1)).toBe(state.context.length);
    }),
    runs(500),
  );
});

test("only what was added is measured, by the next call too", () => {
  let state = AgentState.create({ sessionId: "s" });
  let asked = 0;
  const measure = (): number => {
    asked++;
    return 1;
  };
  for (let index = 0; index < 1_000; index++) state.contextMutable().push(words(1));
  expect(state.contextSum(measure)).toBe(1_000);
  asked = 0;
  state = state.successor();
  state.contextMutable().push(words(1), words(1));
  expect(state.contextSum(measure)).toBe(1_002);
  expect(asked).toBe(2);
});
