import { literalPattern } from "@holdfast/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { bytePattern, isIn, queryPatterns } from "../src/log/query-patterns.js";
import { scaled } from "./scaled.js";

/** Letters whose cases are one, two, three or four, of one, two, three and four bytes, also of different numbers. */
const character = fc.oneof(
  fc.constantFrom(..."aAkKsS ſKßẞéÉµμΜσςΣιΙ\u0345\u1fbeвВᲀтТѲѳⱥȺɐⱯÅåÅ中文🙂𐐀𐐨-:,.*[](|"),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }),
);
const text = (maxLength: number) =>
  fc.array(character, { maxLength }).map((characters) => characters.join(""));

test("a byte pattern takes the characters for one that a pattern without u takes for it", () => {
  const units = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit)).filter(
    (unit) => !/\p{Cs}/u.test(unit),
  );
  const all = units.join("\n");
  const bytes = Buffer.from(all).toString("latin1");
  const cased = units.filter((unit) => unit.toLowerCase() !== unit || unit.toUpperCase() !== unit);
  expect(cased.length).toBeGreaterThan(2_000);
  // Each set of variants is looked for once.
  const sets = new Map(cased.map((unit) => [unit.toUpperCase(), unit]));
  for (const unit of sets.values()) {
    const found = (bytes.match(bytePattern(unit)) ?? []).map((form) =>
      Buffer.from(form, "latin1").toString(),
    );
    expect(found, unit).toEqual(all.match(new RegExp(literalPattern(unit), "gi")));
  }
});

test("a byte pattern finds in UTF-8 what a regular expression finds in the text", () => {
  fc.assert(
    fc.property(text(60), text(8), text(60), fc.boolean(), (before, query, after, isThere) => {
      const haystack = `${before}${isThere ? query.toUpperCase() : ""}${after}`;
      const expected = literalPattern(query).test(haystack);
      expect(isIn(bytePattern(query), Buffer.from(haystack))).toBe(expected);
    }),
    { numRuns: scaled(2_000, 50_000) },
  );
});

test("the start of a very long query is enough to rule out records", () => {
  const long = "é ".repeat(100_000);
  expect(bytePattern(long).source.length).toBeLessThan(2_000);
  expect(isIn(bytePattern(long), Buffer.from(long))).toBe(true);
  expect(isIn(bytePattern(long), Buffer.from(long.slice(0, 40)))).toBe(false);
});

test("no pattern rules out a text that holds the query, written as it is or as JSON", () => {
  const piece = fc.constantFrom(...'aAnubtfr01Fé"\\/\n\t\u0000\u001f\u007f\u2028🙂 {[:,');
  const pieces = (maxLength: number) =>
    fc.array(piece, { minLength: 1, maxLength }).map((all) => all.join(""));
  fc.assert(
    fc.property(pieces(12), fc.nat(12), fc.nat(6), fc.boolean(), (said, start, length, asJson) => {
      const source = asJson ? JSON.stringify(said) : said;
      const query = source.slice(start, start + length + 1);
      fc.pre(!/\p{Cs}/u.test(query));
      const { line, lineOrBlobs, blob } = queryPatterns(query);
      // A message holds the text; the input of a tool is searched as JSON too.
      const written = Buffer.from(JSON.stringify({ text: said }));
      if (!asJson) expect(isIn(line, written), query).toBe(true);
      if (!asJson) expect(isIn(lineOrBlobs, written), query).toBe(true);
      if (!query.includes('"')) expect(isIn(blob, Buffer.from(said)), query).toBe(true);
    }),
    { numRuns: scaled(3_000, 50_000) },
  );
});
