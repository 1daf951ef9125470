import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../arbitraries.js";
import { AgentState, applyWrite, InvalidInputError, type Message, userMessage } from "../values.js";

const message = (text: string) => userMessage(text, { id: text, createdAt: "now" });
const texts = (messages: readonly Message[]) => messages.map(({ id }) => id);

/** A state whose messages m0 … are all stored. */
function stored(count: number): AgentState {
  const state = AgentState.create({ sessionId: "s" });
  for (let index = 0; index < count; index++) state.contextMutable().push(message(`m${index}`));
  state.markSaved();
  state.takePushed();
  return state;
}

const place = fc.oneof(
  fc.integer({ min: -6, max: 12 }),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1.7, -0.5),
);
const count = fc.oneof(fc.integer({ min: -2, max: 8 }), fc.constantFrom(Number.NaN, 1.5));
const edit = fc.oneof(
  fc.record({ kind: fc.constant("push" as const), count: fc.nat(3) }),
  fc.record({ kind: fc.constant("replace" as const), at: fc.nat(12), same: fc.boolean() }),
  fc.record({
    kind: fc.constant("splice" as const),
    at: place,
    remove: count,
    add: fc.nat(3),
    putBack: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("replaceAll" as const), keep: fc.nat(12), add: fc.nat(3) }),
  fc.record({ kind: fc.constant("save" as const) }),
);

describe("for any edits", () => {
  test("the delta turns what was saved into the present context", () => {
    fc.assert(
      fc.property(fc.nat(6), fc.array(edit, { maxLength: 12 }), (initial, edits) => {
        const state = stored(initial);
        const editor = state.contextMutable();
        let saved = [...state.context];
        const model = [...state.context];
        let serial = 0;
        const fresh = (amount: number) =>
          Array.from({ length: amount }, () => message(`n${serial++}`));
        for (const step of edits) {
          if (step.kind === "push") {
            const added = fresh(step.count);
            editor.push(...added);
            model.push(...added);
          } else if (step.kind === "replace") {
            if (model.length === 0) continue;
            const at = step.at % model.length;
            const next = step.same ? (model[at] as Message) : (fresh(1)[0] as Message);
            editor.replace(at, next);
            model[at] = next;
          } else if (step.kind === "splice") {
            const inside = model.slice().splice(step.at, step.remove);
            const added = step.putBack ? [...inside, ...fresh(step.add)] : fresh(step.add);
            const removed = editor.splice(step.at, step.remove, ...added);
            expect(removed).toEqual(model.splice(step.at, step.remove, ...added));
          } else if (step.kind === "replaceAll") {
            const next = [...model.slice(0, step.keep), ...fresh(step.add)];
            editor.replaceAll(next);
            model.splice(0, model.length, ...next);
          } else {
            saved = applyWrite(saved, state.contextDelta());
            state.markSaved();
          }
          const written = applyWrite(saved, state.contextDelta());
          expect(written.length).toBe(model.length);
          expect(written.every((item, index) => item === model[index])).toBe(true);
          expect(state.context.every((item, index) => item === model[index])).toBe(true);
          expect(editor.length).toBe(model.length);
        }
      }),
      runs(3_000),
    );
  });

  test("the delta sends no message that the store holds at its place already", () => {
    fc.assert(
      fc.property(fc.nat(8), place, count, fc.nat(3), (initial, at, remove, add) => {
        const state = stored(initial);
        const before = [...state.context];
        const added = Array.from({ length: add }, (_, index) => message(`n${index}`));
        state.contextMutable().splice(at, remove, ...added);
        const common = before.findIndex((item, index) => item !== state.context[index]);
        const { keep, replace, append } = state.contextDelta();
        expect(keep).toBe(common === -1 ? before.length : common);
        expect(replace).toEqual([]);
        expect(append.length).toBe(state.context.length - keep);
      }),
      runs(1_000),
    );
  });
});

describe("push", () => {
  test("keeps everything stored and appends what was pushed, whatever the length of the history", () => {
    const state = stored(5_000);
    const added = [message("a"), message("b")];
    state.contextMutable().push(...added);
    state.contextMutable().push(message("c"));
    const delta = state.contextDelta();
    expect(delta.keep).toBe(5_000);
    expect(delta.replace).toEqual([]);
    expect(texts(delta.append)).toEqual(["a", "b", "c"]);
    expect(delta.append[0]).toBe(added[0]);
  });

  test("of a refused message pushes none of them", () => {
    const state = stored(1);
    const bad = { ...message("bad"), role: "robot" } as never;
    expect(() => state.contextMutable().push(message("good"), bad)).toThrow(
      expect.toSatisfy(InvalidInputError.is),
    );
    expect(texts(state.context)).toEqual(["m0"]);
    expect(state.takePushed()).toEqual([]);
  });

  test("is remembered until taken, also past a save; the other edits are not", () => {
    const state = stored(2);
    state.contextMutable().push(message("a"));
    state.contextMutable().replace(0, message("r"));
    state.contextMutable().splice(1, 0, message("s"));
    state.markSaved();
    state.contextMutable().push(message("b"));
    state.contextMutable().replaceAll([]);
    expect(texts(state.takePushed())).toEqual(["a", "b"]);
    expect(state.takePushed()).toEqual([]);
  });
});

describe("replace", () => {
  test("marks one stored message and appends nothing, in the order of the indexes", () => {
    const state = stored(4);
    state.contextMutable().replace(3, message("y"));
    state.contextMutable().replace(1, message("x"));
    state.contextMutable().replace(1, message("z"));
    const delta = state.contextDelta();
    expect(delta.keep).toBe(4);
    expect(delta.replace.map(([index, { id }]) => [index, id])).toEqual([
      [1, "z"],
      [3, "y"],
    ]);
    expect(delta.append).toEqual([]);
  });

  test("with the message that is there already changes nothing", () => {
    const state = stored(2);
    state.contextMutable().replace(1, state.context[1] as Message);
    expect(state.contextDelta()).toEqual({ keep: 2, replace: [], append: [] });
  });

  test.each([-1, 2, 0.5, Number.NaN])("at %d, where there is no message, is refused", (index) => {
    const state = stored(2);
    expect(() => state.contextMutable().replace(index, message("x"))).toThrow(
      expect.toSatisfy(InvalidInputError.is),
    );
    expect(texts(state.context)).toEqual(["m0", "m1"]);
  });

  test("of a message not stored yet is part of what is appended", () => {
    const state = stored(1);
    state.contextMutable().push(message("a"));
    state.contextMutable().replace(1, message("b"));
    expect(state.contextDelta()).toEqual({ keep: 1, replace: [], append: [message("b")] });
  });
});

describe("splice and replaceAll", () => {
  test.each([
    ["a negative start counts from the end", -1, 1, ["m0", "m1"], 2],
    ["one before the beginning is the beginning", -9, 1, ["m1", "m2"], 0],
    ["one past the end is the end", 9, 5, ["m0", "m1", "m2"], 3],
    ["one that is no number is the beginning", Number.NaN, 1, ["m1", "m2"], 0],
  ])("%s", (_, start, remove, left, keep) => {
    const state = stored(3);
    state.contextMutable().splice(start, remove);
    expect(texts(state.context)).toEqual(left);
    expect(state.contextDelta().keep).toBe(keep);
  });

  test("a splice that changes nothing keeps everything", () => {
    const state = stored(3);
    expect(state.contextMutable().splice(1, 0)).toEqual([]);
    expect(state.contextMutable().splice(-7, -2)).toEqual([]);
    state.contextMutable().splice(1, 2, ...state.context.slice(1));
    expect(state.contextDelta()).toEqual({ keep: 3, replace: [], append: [] });
  });

  test("replaceAll keeps the prefix that is the same objects, and the marks in it", () => {
    const state = stored(4);
    state.contextMutable().replace(0, message("r0"));
    state.contextMutable().replace(3, message("r3"));
    state.contextMutable().replaceAll([...state.context.slice(0, 2), message("x")]);
    const delta = state.contextDelta();
    expect(delta.keep).toBe(2);
    expect(delta.replace.map(([index]) => index)).toEqual([0]);
    expect(texts(delta.append)).toEqual(["x"]);
  });

  test("replaceAll with the live list itself changes nothing", () => {
    const state = stored(3);
    state.contextMutable().replaceAll(state.context);
    expect(texts(state.context)).toEqual(["m0", "m1", "m2"]);
    expect(state.contextDelta()).toEqual({ keep: 3, replace: [], append: [] });
  });

  test("equal is not the same: a copy of a stored message is sent again", () => {
    const state = stored(2);
    state.contextMutable().replaceAll([message("m0"), message("m1")]);
    expect(state.contextDelta()).toMatchObject({ keep: 0, append: [{ id: "m0" }, { id: "m1" }] });
  });

  test("takes a hundred thousand messages", () => {
    const state = stored(1);
    const many = Array.from({ length: 100_000 }, () => message("x"));
    state.contextMutable().replaceAll(many);
    expect(state.context).toHaveLength(100_000);
  });
});

test("after a save there is nothing left to send", () => {
  const state = stored(3);
  state.contextMutable().replace(0, message("x"));
  state.contextMutable().splice(2, 1);
  state.contextMutable().push(message("y"));
  state.markSaved();
  expect(state.contextDelta()).toEqual({ keep: 3, replace: [], append: [] });
});

describe("messages in a context are frozen", () => {
  test("the same object when it was frozen already, else a checked copy", () => {
    const state = stored(2);
    const editor = state.contextMutable();
    const made = message("made");
    const loose = {
      id: "loose",
      role: "user",
      content: [{ type: "text", text: "a" }],
      createdAt: "now",
    } as const;
    editor.push(made, loose);
    editor.replace(0, { ...loose, id: "replaced" });
    editor.splice(1, 0, { ...loose, id: "spliced" });
    expect(texts(state.context)).toEqual(["replaced", "spliced", "m1", "made", "loose"]);
    expect(state.context[3]).toBe(made);
    expect(state.context[4]).toEqual(loose);
    expect(state.context[4]).not.toBe(loose);
    editor.replaceAll([...state.context, { ...loose, id: "last" }]);
    for (const item of state.context)
      expect([item, item.content, ...item.content].every(Object.isFrozen)).toBe(true);
    expect(Object.isFrozen(loose)).toBe(false);
  });

  test("and what would not load again does not get in", () => {
    const state = stored(1);
    const editor = state.contextMutable();
    const bad = { ...message("bad"), metadata: { n: Number.NaN } };
    const edits = [
      () => editor.push(bad),
      () => editor.replace(0, bad),
      () => editor.splice(0, 1, bad),
      () => editor.replaceAll([bad]),
    ];
    for (const attempt of edits) expect(attempt).toThrow(expect.toSatisfy(InvalidInputError.is));
    expect(texts(state.context)).toEqual(["m0"]);
    expect(state.contextDelta()).toEqual({ keep: 1, replace: [], append: [] });
  });
});
