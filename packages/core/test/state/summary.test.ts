import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyState, hostileText, runs } from "../arbitraries.js";
import { AgentState, InvalidInputError, type Message, userMessage } from "../values.js";

const isSummary = (message: Message) =>
  message.role === "user" &&
  message.content.length === 1 &&
  message.content[0]?.type === "hint" &&
  message.content[0].source === "summary";

function conversation(): AgentState {
  const state = AgentState.create({ sessionId: "s" });
  state.contextMutable().push(userMessage("one"), userMessage("two"));
  state.markSaved();
  return state;
}

describe("the summary", () => {
  test("is what was set, always at index 0, at most one, and the rest stays", () => {
    fc.assert(
      fc.property(anyState, fc.array(fc.option(hostileText), { minLength: 1 }), (state, texts) => {
        const others = state.context.filter((message) => !isSummary(message));
        for (const text of texts) {
          state.summary = text;
          expect(state.summary).toBe(text);
          expect(state.context.filter(isSummary).length).toBe(text === null ? 0 : 1);
          expect(state.context.findIndex(isSummary)).toBe(text === null ? -1 : 0);
          expect(state.context.filter((m) => !isSummary(m)).every((m, i) => m === others[i])).toBe(
            true,
          );
          expect(state.context.length - (text === null ? 0 : 1)).toBe(others.length);
        }
      }),
      runs(400),
    );
  });

  test("is the message itself: there is no second place that could disagree", () => {
    const state = conversation();
    state.summary = "canary";
    expect(JSON.stringify(state.head())).not.toContain("canary");
    expect(AgentState.fromJsonString(state.toJson()).summary).toBe("canary");
    state.contextMutable().splice(0, 1);
    expect(state.summary).toBe(null);
    state
      .contextMutable()
      .splice(0, 0, userMessage([{ type: "hint", text: "by hand", source: "summary" }]));
    expect(state.summary).toBe("by hand");
  });

  test("set again replaces one stored message and keeps the rest", () => {
    const state = conversation();
    state.summary = "first";
    state.markSaved();
    state.summary = "second";
    expect(state.contextDelta()).toEqual({ keep: 3, replace: [[0, state.context[0]]], append: [] });
  });

  test("set to null where there is none changes nothing", () => {
    const state = conversation();
    state.summary = null;
    expect(state.contextDelta()).toEqual({ keep: 2, replace: [], append: [] });
  });

  test("that slipped from its place is taken away by the next one", () => {
    const state = conversation();
    state.summary = "old";
    state.contextMutable().splice(0, 0, userMessage("in front"));
    expect(state.summary).toBe(null);
    state.summary = "new";
    expect(state.context.map(isSummary)).toEqual([true, false, false, false]);
  });

  test("may be empty, which is not the same as none", () => {
    const state = conversation();
    state.summary = "";
    expect(state.summary).toBe("");
  });

  test("of another type than text is refused and leaves the context as it was", () => {
    const state = conversation();
    state.summary = "old";
    expect(() => {
      state.summary = 5 as never;
    }).toThrow(expect.toSatisfy((error) => InvalidInputError.is(error)));
    expect(state.summary).toBe("old");
  });

  test("is not taken for one when the message is anything more", () => {
    const hint = { type: "hint", text: "a", source: "summary" } as const;
    for (const content of [[hint, hint], [{ ...hint, source: "plan" }], []]) {
      const state = AgentState.create({ sessionId: "s" });
      state.contextMutable().push(userMessage(content));
      expect(state.summary).toBe(null);
    }
  });
});
