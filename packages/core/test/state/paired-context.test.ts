import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../arbitraries.js";
import { accidents, chaos } from "../message/conversations.js";
import {
  AgentState,
  assistantMessage,
  deepFreeze,
  repairToolPairs,
  toolResultMessage,
  userMessage,
} from "../values.js";

describe("the paired context", () => {
  const conversation = fc.oneof(chaos, accidents).map(deepFreeze);

  test("is what repairing the whole list gives, however the context came about", () => {
    fc.assert(
      fc.property(conversation, conversation, fc.nat(9), fc.nat(3), (first, second, at, remove) => {
        const state = AgentState.create({ sessionId: "s" });
        const editor = state.contextMutable();
        const check = () => {
          const expected = repairToolPairs(state.context);
          expect(state.pairedContext()).toEqual(expected);
          expect(state.successor().pairedContext()).toEqual(expected);
        };
        for (const item of first) {
          editor.push(item);
          check();
        }
        editor.splice(at, remove);
        check();
        for (const item of second) {
          editor.push(item);
          check();
        }
        if (second[0] && editor.length > 0) editor.replace(at % editor.length, second[0]);
        check();
        editor.replaceAll([...state.context.slice(0, at), ...second]);
        check();
      }),
      runs(300),
    );
  });

  test("notices a call that uses an id again long after it was answered", () => {
    const state = AgentState.create({ sessionId: "s" });
    const call = { type: "tool_call", id: "call_0", name: "n", input: {} } as const;
    const result = {
      type: "tool_result",
      toolCallId: "call_0",
      name: "n",
      output: [],
      state: "success",
    } as const;
    const turn = () => [assistantMessage([call]), toolResultMessage(result)];
    state.contextMutable().push(...turn());
    expect(state.pairedContext().repairs).toEqual([]);
    state.contextMutable().push(...turn());
    expect(state.pairedContext().repairs).toHaveLength(2);
    expect(state.pairedContext().messages).toHaveLength(2);
  });
});

describe("a successor", () => {
  test("counts as stored where its original does, and neither sees the other's edits", () => {
    const state = AgentState.create({ sessionId: "s" });
    state.contextMutable().push(userMessage("0"), userMessage("1"));
    state.markSaved();
    state.contextMutable().replace(1, userMessage("r"));
    state.contextMutable().push(userMessage("p"));
    const next = state.successor();
    expect(next.contextDelta()).toEqual(state.contextDelta());
    expect(next.contextDelta()).toMatchObject({ keep: 2, replace: [[1, {}]], append: [{}] });
    expect(next.contextBytes()).toBe(state.contextBytes());
    next.contextMutable().splice(0, 1);
    next.permissionContext.mode = "bypass";
    expect(state.context).toHaveLength(3);
    expect(state.permissionContext.mode).toBe("default");
    state.markSaved();
    expect(next.contextDelta().keep).toBe(0);
  });
});
