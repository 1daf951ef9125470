import { createRequire } from "node:module";
import fc from "fast-check";
import { expect, test } from "vitest";
import { countInPieces } from "../../src/tokens/count-in-pieces.js";
import { commonTexts, otherTexts } from "./corpus.js";

const runs = process.env["HOLDFAST_LONG"] === "1" ? 5_000 : 40;
const require = createRequire(import.meta.url);

/** Counts a whole text at once, as the counters do not. */
function wholeCounter(encoding: string): (text: string) => number {
  const { countTokens } = require(`gpt-tokenizer/encoding/${encoding}`);
  return (text) => countTokens(text, { disallowedSpecial: new Set() });
}

function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  countInPieces(text, (piece) => pieces.push(piece));
  return pieces;
}

test("the pieces are the text, none is empty and none longer than 512 characters", () => {
  const unit = fc.constantFrom("word ", "x", "漢", "。", "😀", "\ud800", "\n", " ", "{}", "é");
  const run = fc.tuple(unit, fc.integer({ min: 1, max: 1_500 }));
  fc.assert(
    fc.property(fc.array(run, { maxLength: 6 }), (parts) => {
      const text = parts.map(([part, times]) => part.repeat(times)).join("");
      const pieces = piecesOf(text);
      expect(pieces.join("")).toBe(text);
      for (const { length } of pieces) expect(length > 0 && length <= 512).toBe(true);
    }),
  );
});

test("no piece begins inside a surrogate pair", () => {
  for (const shift of ["", "x"])
    for (const piece of piecesOf(shift + "😀".repeat(3_000))) expect(piece).not.toMatch(/\p{Cs}/u);
});

test.each(["o200k_base", "cl100k_base"])(
  "cut at ends of words, %s counts stay exact",
  (encoding) => {
    const whole = wholeCounter(encoding);
    const texts = Object.values({ ...commonTexts, ...otherTexts });
    for (const text of texts) expect(countInPieces(text, whole)).toBe(whole(text));
    // In any order and from any place, so that cuts fall everywhere.
    const excerpt = fc
      .tuple(fc.constantFrom(...texts), fc.nat(), fc.integer({ min: 1, max: 700 }))
      .map(([text, start, length]) => text.slice(start % text.length).slice(0, length));
    fc.assert(
      fc.property(fc.array(excerpt, { minLength: 2, maxLength: 8 }), (excerpts) => {
        const text = excerpts.join("").replace(/\p{Cs}/gu, "");
        expect(countInPieces(text, whole)).toBe(whole(text));
      }),
      { numRuns: runs },
    );
  },
);

test.each(["we don't, they've, it's ", "ab𝒳𝒴cd ", "नमस्ते दुनिया ", "12 345,678 "])(
  "words of %j are never cut, wherever the limit falls",
  (words) => {
    const whole = wholeCounter("o200k_base");
    for (let shift = 0; shift < 30; shift++) {
      const text = "-".repeat(shift) + words.repeat(Math.ceil(1_500 / words.length));
      expect(countInPieces(text, whole)).toBe(whole(text));
    }
  },
);

test("a run without ends of words counts at most two tokens more per cut", () => {
  const whole = wholeCounter("o200k_base");
  for (const unit of ["a", "qz", "漢字", "-", "=+", " ", "😀", "ab漢"]) {
    const text = unit.repeat(Math.floor(4_000 / unit.length));
    const extra = countInPieces(text, whole) - whole(text);
    expect(Math.abs(extra)).toBeLessThanOrEqual(2 * Math.ceil(text.length / 512));
  }
});
