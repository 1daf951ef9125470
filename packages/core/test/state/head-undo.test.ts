import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { headBefore, undone, undoOf, withUndo } from "../../src/state/head-undo.js";
import { anyState, jsonObject, runs, stateDocument } from "../arbitraries.js";
import type { JsonObject } from "../values.js";

/** An object, and what a sequence of changes made of it: entries set, removed, and taken from yet another object. */
const changed = fc
  .tuple(
    jsonObject,
    fc.array(fc.tuple(fc.constantFrom("set", "remove", "inside"), fc.nat(), jsonObject)),
  )
  .map(([earlier, changes]) => {
    let present = earlier;
    for (const [kind, at, other] of changes) {
      const keys = Object.keys(present);
      const key = keys[at % Math.max(keys.length, 1)] ?? "new";
      const entries = Object.entries(present).filter(([name]) => name !== key);
      const value = kind === "inside" ? { ...asObject(present[key]), ...other } : other;
      present = Object.fromEntries(kind === "remove" ? entries : [...entries, [key, value]]);
    }
    return [earlier, present] as const;
  });

test("what was changed, added and removed is put back exactly, whatever the sequence of changes", () => {
  fc.assert(
    fc.property(fc.oneof(changed, fc.tuple(jsonObject, jsonObject)), ([earlier, present]) => {
      expect(
        isDeepStrictEqual(undone(present, throughText(undoOf(earlier, present))), earlier),
      ).toBe(true);
    }),
    runs(2_000),
  );
});

test("from any head that a run has made of another, that other is found again", () => {
  fc.assert(
    fc.property(anyState, stateDocument, (state, other) => {
      const { context: _, unfinishedRun: __, ...before } = other;
      state.unfinishedRun = { callId: "c", messageIds: [], before };
      const stored = throughText(withUndo(state.head()));
      expect(stored["unfinishedRun"]).not.toHaveProperty("before");
      const run = stored["unfinishedRun"] as unknown as Parameters<typeof headBefore>[1];
      expect(isDeepStrictEqual(headBefore(stored, run), throughText(before))).toBe(true);
    }),
    runs(500),
  );
});

test("what did not change takes no room, whatever its size; of a plugin's state only that one counts", () => {
  const large = { version: 1, value: "x".repeat(10_000) };
  const earlier = { extensions: { large, small: 1, gone: 2 }, tasksContext: { tasks: [] } };
  const present = { extensions: { large, small: 2, added: large }, tasksContext: { tasks: [] } };
  const inside = [["small", 1], ["added"], ["gone", 2]];
  expect(undoOf(earlier, present)).toEqual([["extensions", inside, "inside"]]);
  expect(undoOf(earlier, earlier)).toEqual([]);
});

test("keys that are names of the language are put back as data", () => {
  const evil = JSON.parse('{"__proto__":{"__proto__":1,"a":2},"constructor":3}') as JsonObject;
  const changedInside = JSON.parse('{"__proto__":{"a":3},"constructor":{}}') as JsonObject;
  for (const present of [{}, changedInside]) {
    const back = undone(present, throughText(undoOf(evil, present)));
    expect(isDeepStrictEqual(back, evil)).toBe(true);
  }
  expect("a" in {}).toBe(false);
});

function asObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null ? (value as JsonObject) : {};
}

function throughText<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
