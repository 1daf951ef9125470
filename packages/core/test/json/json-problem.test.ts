import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { excerptAt, jsonProblem } from "../../src/json/json-problem.js";

describe("where a text is not JSON", () => {
  test.each<[string, number, RegExp]>([
    ["", 0, /ends.*a value was expected/],
    ['{"a": 1 "b": 2}', 8, /a comma or }/],
    ['{"a": 1,}', 8, /a key in double quotes/],
    ["{a: 1}", 1, /a key in double quotes or }/],
    ["{'a': 1}", 1, /a key in double quotes or }/],
    ['{"a" 1}', 5, /a colon/],
    ['{"a": }', 6, /a value/],
    ['{"a": undefined}', 6, /a value/],
    ["[1, 2", 5, /ends there, and a comma or ]/],
    ["[1 2]", 3, /a comma or ]/],
    ['{"path": "C:\\new', 16, /in the middle of a string/],
    ['{"path": "C:\\drive\\x"}', 12, /backslash/],
    ['{"text": "one\ntwo"}', 13, /control character/],
    ['{"a": 1} and more', 9, /nothing more/],
    ['{"a": 01}', 6, /a value/],
    ['{"a": [}', 7, /a value or ]/],
  ])("%j: at %i", (text, offset, problem) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(jsonProblem(text)).toEqual({ offset, problem: expect.stringMatching(problem) });
  });

  test("is nowhere in a text that is", () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(undefined, 2, "\t"), (text, space) => {
        expect(jsonProblem(text)).toBeNull();
        expect(jsonProblem(JSON.stringify(JSON.parse(text), null, space))).toBeNull();
      }),
    );
  });

  test("is somewhere in every text that JSON.parse refuses, and nowhere else", () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.string(), (json, at, piece) => {
        const cut = at % (json.length + 1);
        const text = json.slice(0, cut) + piece + json.slice(cut + 1);
        const isValid = (() => {
          try {
            JSON.parse(text);
            return true;
          } catch {
            return false;
          }
        })();
        expect(jsonProblem(text) === null).toBe(isValid);
      }),
      { numRuns: 2_000 },
    );
  });

  test("is shown with what stands around it", () => {
    const text = `{"title": "${"x".repeat(60)}", oops: 1, "more": "${"y".repeat(60)}"}`;
    const { offset } = jsonProblem(text) ?? { offset: -1 };
    expect(excerptAt(text, offset)).toMatch(/^…x{20,}", ⟨here⟩oops: 1, .*…$/);
  });

  test("is found in a deep and in a long text without trouble", () => {
    expect(jsonProblem("[".repeat(100_000))?.offset).toBe(100_000);
    expect(jsonProblem(`"${"a".repeat(900_000)}`)?.offset).toBe(900_001);
    expect(jsonProblem(`"${"a".repeat(2_000_000)}`)?.problem).toContain("too long");
  });
});
