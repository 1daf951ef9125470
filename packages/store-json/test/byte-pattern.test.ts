import { literalPattern } from "@holdfast/core/store-kit";
import { scaled } from "@holdfast/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { BytePattern } from "../src/log/byte-pattern.js";
import { queryPatterns } from "../src/log/query-patterns.js";

/** Letters whose cases are one, two, three or four, of one, two, three and four bytes, also of different numbers. */
const character = fc.oneof(
  fc.constantFrom(..."aAkKsS ſKßẞéÉµμΜσςΣιΙ\u0345\u1fbeвВᲀтТѲѳⱥȺɐⱯÅåÅ中文🙂𐐀𐐨-:,.*[](|"),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }),
);
const text = (maxLength: number) =>
  fc.array(character, { maxLength }).map((characters) => characters.join(""));

test("a pattern finds every character that a regular expression without u takes for one of its own", () => {
  const units = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit)).filter(
    (unit) => !/\p{Cs}/u.test(unit),
  );
  const all = units.join("");
  const cased = units.filter((unit) => unit.toLowerCase() !== unit || unit.toUpperCase() !== unit);
  expect(cased.length).toBeGreaterThan(2_000);
  // Each set of variants is looked for once.
  const sets = new Map(cased.map((unit) => [unit.toUpperCase(), unit]));
  for (const unit of sets.values()) {
    const pattern = new BytePattern(unit);
    for (const variant of all.match(new RegExp(literalPattern(unit), "gi")) ?? [])
      expect(pattern.indexIn(Buffer.from(variant)), `${unit} ${variant}`).toBe(0);
  }
});

test("a pattern finds in UTF-8 what a regular expression finds in the text", () => {
  fc.assert(
    fc.property(text(60), text(8), text(60), fc.boolean(), (before, query, after, isThere) => {
      const haystack = `${before}${isThere ? query.toUpperCase() : ""}${after}`;
      fc.pre(literalPattern(query).test(haystack) && haystack !== "");
      expect(new BytePattern(query).indexIn(Buffer.from(haystack))).not.toBe(-1);
    }),
    { numRuns: scaled(500, 50_000) },
  );
});

test("a pattern of ASCII finds nothing else, and the first match from any index on", () => {
  const ascii = (maxLength: number) =>
    fc
      .array(fc.constantFrom(..."abAB 1-"), { minLength: 1, maxLength })
      .map((characters) => characters.join(""));
  fc.assert(
    fc.property(ascii(40), ascii(5), fc.nat(45), (haystack, query, from) => {
      const expected = haystack.toLowerCase().indexOf(query.toLowerCase(), from);
      expect(new BytePattern(query).indexIn(Buffer.from(haystack), from)).toBe(expected);
    }),
    { numRuns: scaled(750, 50_000) },
  );
});

test("an empty pattern is found at every index", () => {
  const bytes = Buffer.from("ab");
  expect([0, 1, 2].map((from) => new BytePattern("").indexIn(bytes, from))).toEqual([0, 1, -1]);
});

test("the start of a very long text is enough", () => {
  const long = "é ".repeat(100_000);
  const pattern = new BytePattern(long);
  expect(pattern.indexIn(Buffer.from(`x${long}`))).toBe(1);
  expect(pattern.indexIn(Buffer.from(long.slice(0, 40)))).toBe(-1);
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
      const { line, blob } = queryPatterns(query);
      // A message holds the text; the input of a tool is searched as JSON too.
      const written = Buffer.from(JSON.stringify({ text: said }));
      if (!asJson) expect(line.indexIn(written), query).not.toBe(-1);
      if (!query.includes('"')) expect(blob.indexIn(Buffer.from(said)), query).not.toBe(-1);
    }),
    { numRuns: scaled(750, 50_000) },
  );
});
