import fc from "fast-check";
import { expect, test } from "vitest";
import { matchRanges, searchWords } from "../../../src/plugin-kit/search/index.js";
import {
  foldText,
  isUnspaced,
  pairsOf,
  placedWords,
  wordsOf,
} from "../../../src/plugin-kit/search/words.js";

test.each([
  ["Don't panic: it's 3.5 km!", ["don", "t", "panic", "it", "s", "3", "5", "km"]],
  ["GRÜSSE Gru\u0308ße naïve Łódź", ["grusse", "grusse", "naive", "lodz"]],
  ["ещё ЕЩЁ еще мой", ["еще", "еще", "еще", "мой"]],
  ["ΟΔΟΣ οδός", ["οδοσ", "οδοσ"]],
  ["ﬁne ＡＢＣ ｶﾀｶﾅ", ["fine", "abc", "カタカナ"]],
  ["用户喜欢Python和茶。", ["用户喜欢", "python", "和茶"]],
  ["東京タワーへ2回 서울", ["東京タワーへ", "2", "回", "서울"]],
  ["हिन्दी में", ["हिन्दी", "में"]],
  ["Kün\u00addigung ❤️ 1️⃣", ["kundigung", "1⃣"]],
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
  // Marks belong to the character before them.
  expect(pairsOf("茶\u0f71\u0f80")).toEqual(["茶\u0f71\u0f80"]);
  expect(pairsOf("น้ำชา")).toEqual(["น้ำ", "ำช", "ชา"]);
});

test("folding twice is folding once, words of words are the same words, and places are where the words are", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(foldText(foldText(text))).toBe(foldText(text));
      expect(wordsOf(wordsOf(text).join(" "))).toEqual(wordsOf(text));
      for (const { word, start, end } of placedWords(text))
        expect(wordsOf(text.slice(start, end)).join("")).toBe(wordsOf(word).join(""));
    }),
    { numRuns: process.env["HOLDFAST_LONG"] === "1" ? 50_000 : 300 },
  );
});

test("each letter of Unicode is found as it is stored", () => {
  const letters = Array.from({ length: 0x1_10_00 }, (_, code) => code)
    .filter((code) => code < 0xd8_00 || code > 0xdf_ff)
    .map((code) => String.fromCodePoint(code))
    .filter((character) => /\p{L}/u.test(character));
  const changed = letters.filter(
    (letter) => wordsOf(wordsOf(letter).join(" ")).join(" ") !== wordsOf(letter).join(" "),
  );
  expect(changed).toEqual([]);
});

test("searched are words that say something", () => {
  expect(searchWords("What did you say to Will about the 2nd café in May?")).toEqual([
    "what",
    "say",
    "will",
    "2nd",
    "cafe",
    "may",
  ]);
  expect(searchWords("去北京出差")).toEqual(["去北", "北京", "京出", "出差"]);
});

test("matches are marked where they stand, words beside each other together", () => {
  const marked = (text: string, words: readonly string[]): string[] =>
    matchRanges(text, (word) => words.includes(word)).map(({ start, end }) =>
      text.slice(start, end),
    );
  expect(marked("The Support Group met; groups help.", ["support", "group"])).toEqual([
    "Support Group",
  ]);
  expect(marked("Ein Café, zwei CAFÉS", ["cafe", "cafes"])).toEqual(["Café", "CAFÉS"]);
  expect(marked("下周三去北京出差，住酒店", ["北京", "京出", "出差"])).toEqual(["北京出差"]);
});
