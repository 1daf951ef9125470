import { describe, expect, test } from "vitest";
import { likePattern } from "../../src/log/like-pattern.js";

describe("the pattern that narrows a search down", () => {
  test.each([
    ["needle", "%needle%"],
    ["Looking", "%Loo_ing%"],
    ["100%_|", "%100|%|_||%"],
    ["漢字 text", "%漢字 text%"],
    ["zwölf BÄRen", "%zw_lf B_Ren%"],
    ["🌤 sun", "%_ _un%"],
    ["a\nlonger line", "%longer line%"],
    ['say "hello"', "%hello%"],
    ["back\\slash", "%bac_%"],
    ["x\ud800yyy", "%yyy%"],
  ])("of %j is %j", (query, pattern) => {
    expect(likePattern(query)).toBe(pattern);
  });

  test.each(["k", "Sk", "é", '"\\\n', "🌤", "\ud800"])("of %j does not exist", (query) => {
    expect(likePattern(query)).toBeNull();
  });
});
