import assert from "node:assert/strict";
import fc from "fast-check";
import { expect, test } from "vitest";
import { clipText } from "../../src/plan/clip-text.js";
import { runs } from "../runs.js";

const text = fc
  .array(fc.constantFrom("a", " ", "😀", "\ud83d", "\ude00", "$&", "é"), { maxLength: 60 })
  .map((parts) => parts.join(""));

/** Halves of pairs that stand alone. */
const halves = (value: string): number =>
  Array.from(value).filter((character) => /^[\ud800-\udfff]$/.test(character)).length;

test("a clipped text has no more than it may have, its own head and tail, and no pair cut in two", () => {
  const between = fc.constantFrom("…", " [cut] ", "$&");
  fc.assert(
    fc.property(text, fc.integer({ min: 7, max: 80 }), between, (original, max, mark) => {
      const clipped = clipText(original, max, mark);
      assert.ok(clipped.length <= max);
      assert.equal(clipText(clipped, max, mark), clipped);
      if (original.length <= max) return assert.equal(clipped, original);
      const cuts = [...Array(clipped.length).keys()].filter((at) => clipped.startsWith(mark, at));
      const cut = cuts.find(
        (at) =>
          original.startsWith(clipped.slice(0, at)) &&
          original.endsWith(clipped.slice(at + mark.length)),
      );
      assert.notEqual(cut, undefined);
      assert.ok(halves(clipped) <= halves(original));
      assert.ok(clipped.length >= max - 2, "no more is taken than has to be");
    }),
    runs(),
  );
});

test("where there is no room for anything else, the mark alone is left", () => {
  expect(clipText("abcdefgh", 3, "...")).toBe("...");
  expect(clipText("abcdefgh", 4, "...")).toBe("a...");
  expect(clipText("abcdefgh", 5, "...")).toBe("a...h");
});
