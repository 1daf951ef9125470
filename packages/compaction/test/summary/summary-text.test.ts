import assert from "node:assert/strict";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fill } from "../../src/summary/summary-format.js";
import { placesIn, summaryText } from "../../src/summary/summary-text.js";
import { runs } from "../runs.js";
import { nasty, textPlans, writeText } from "../texts.js";

test("places are read back whatever the summary says, and the summary is in there word for word", () => {
  const place = fc.integer().map((number) => `Read file ${number}.`);
  fc.assert(
    fc.property(textPlans, fc.array(place, { maxLength: 20 }), (plan, places) => {
      const summary = writeText(plan, "<kept>\nno place\n</kept>");
      const text = summaryText(summary, places);
      assert.ok(text.includes(`<summary>\n${summary}\n</summary>`));
      assert.deepEqual(placesIn(text), places.slice(-12));
    }),
    runs(),
  );
  expect(placesIn(null)).toEqual([]);
  expect(placesIn("a summary somebody else wrote\n<kept>\nx\n</kept> or not")).toEqual([]);
});

test("what fills a template is data: it is neither a pattern nor a template", () => {
  fc.assert(
    fc.property(fc.constantFrom(...nasty), fc.constantFrom(...nasty), (one, two) => {
      const filled = fill("{one}|{two}|{three}|{one}", { one, two });
      assert.equal(filled, `${one}|${two}|{three}|${one}`);
    }),
    runs(),
  );
  expect(fill("{toString} {__proto__}", {})).toBe("{toString} {__proto__}");
});
