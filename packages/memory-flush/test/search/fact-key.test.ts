import { expect, test } from "vitest";
import { factKey } from "../../src/search/fact-key.js";

test("two texts with the same words are one fact, signs that mean something are not left out", () => {
  expect(factKey("Likes “green”  tea.")).toBe(factKey("likes GREEN tea"));
  expect(factKey("喜欢茶。")).toBe(factKey("喜欢茶"));
  for (const [a, b] of [
    ["Writes C", "Writes C++"],
    ["Costs 3.5", "Costs 35"],
    ["x is -5", "x is 5"],
    ["Likes tea", "Likes no tea"],
  ] as const)
    expect(factKey(a)).not.toBe(factKey(b));
});
