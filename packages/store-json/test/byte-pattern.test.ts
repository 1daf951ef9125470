import { literalPattern } from "@holdfast/core/store-kit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { BytePattern } from "../src/scan/byte-pattern.js";
import { caseVariants } from "../src/scan/case-variants.js";
import { createKernel } from "../src/scan/kernel.js";
import { scaled } from "./scaled.js";

const kernel = createKernel();

/** Letters whose cases are one, two, three or four, of one, two, three and four bytes, also of different numbers. */
const character = fc.oneof(
  fc.constantFrom(..."aAkKsS ſKßẞéÉµμΜσςΣιΙ\u0345\u1fbeвВᲀтТѲѳⱥȺɐⱯÅåÅ中文🙂𐐀𐐨-:,"),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }),
);
const text = (maxLength: number) =>
  fc.array(character, { maxLength }).map((characters) => characters.join(""));

test("a character has the cases that a pattern without u gives it", () => {
  const units = Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit));
  const all = units.join("");
  const cased = units.filter(
    (each) =>
      each.toLowerCase() !== each || each.toUpperCase() !== each || caseVariants(each).length > 1,
  );
  expect(cased.length).toBeGreaterThan(2_000);
  // Each set of variants is looked for once.
  const sets = new Map(cased.map((each) => [[...caseVariants(each)].sort().join(""), each]));
  for (const [variants, each] of sets) {
    const pattern = new RegExp(literalPattern(each).source, "gi");
    expect((all.match(pattern) ?? []).sort().join("")).toBe(variants);
  }
});

test("a pattern finds in UTF-8 what a regular expression finds in the text", () => {
  fc.assert(
    fc.property(text(60), text(8), text(60), fc.boolean(), (before, query, after, isIn) => {
      fc.pre(query !== "");
      const haystack = `${before}${isIn ? query.toUpperCase() : ""}${after}`;
      const expected = literalPattern(query).test(haystack);
      expect(holds(haystack, query)).toBe(expected);
    }),
    { numRuns: scaled(2_000, 50_000) },
  );
});

test("what is beyond the end is not part of a match", () => {
  const pattern = BytePattern.of("needle") as BytePattern;
  kernel.memory.fill(0).write("xneedle");
  for (let end = 0; end < 7; end++) expect(pattern.find(kernel, 0, end, end)).toBe(-1);
  expect(pattern.find(kernel, 0, 7, 7)).toBeGreaterThan(0);
});

test("there is no pattern for nothing", () => {
  expect(BytePattern.of("")).toBeNull();
});

function holds(haystack: string, query: string): boolean {
  const pattern = BytePattern.of(query);
  // Nothing can be told from the bytes: what is looked for may be anywhere.
  if (pattern === null) return literalPattern(query).test(haystack);
  const end = kernel.memory.fill(0).write(haystack);
  return pattern.find(kernel, 0, end, end) !== -1;
}
