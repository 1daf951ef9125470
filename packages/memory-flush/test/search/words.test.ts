import fc from "fast-check";
import { expect, test } from "vitest";
import { factKey, foldText, isUnspaced, pairsOf, wordsOf } from "../../src/search/words.js";

test.each([
  ["Don't panic: it's 3.5 km!", ["don", "t", "panic", "it", "s", "3", "5", "km"]],
  ["GRÜSSE Gru\u0308ße naïve", ["grüsse", "grüße", "naïve"]],
  ["ещё ЕЩЁ еще", ["еще", "еще", "еще"]],
  ["ΟΔΟΣ οδός", ["οδοσ", "οδόσ"]],
  ["ﬁne ＡＢＣ ｶﾀｶﾅ", ["fine", "abc", "カタカナ"]],
  ["用户喜欢Python和茶。", ["用户喜欢", "python", "和茶"]],
  ["東京タワーへ2回", ["東京タワーへ", "2", "回"]],
  ["हिन्दी में", ["हिन्दी", "में"]],
  ["Kün\u00addigung ❤️ 1️⃣", ["kündigung", "1⃣"]],
  ["", []],
])("the words of %j", (text, words) => {
  expect(wordsOf(text)).toEqual(words);
});

test("scripts without spaces are told apart and compared by pairs", () => {
  expect(["茶", "カ", "ไทย", "서울"].every(isUnspaced)).toBe(true);
  expect(["tea", "чай", "é", "1", "हिन्दी"].some(isUnspaced)).toBe(false);
  expect(pairsOf("東京都")).toEqual(["東京", "京都"]);
  expect(pairsOf("𠮷野家")).toEqual(["𠮷野", "野家"]);
  expect(pairsOf("茶")).toEqual(["茶"]);
});

test("folding twice is folding once, and words of words are the same words", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(foldText(foldText(text))).toBe(foldText(text));
      expect(wordsOf(wordsOf(text).join(" "))).toEqual(wordsOf(text));
    }),
    { numRuns: process.env["HOLDFAST_LONG"] === "1" ? 50_000 : 1_000 },
  );
});

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
