import assert from "node:assert/strict";
import { characterEstimate } from "@holdfast/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { transcriptChunks } from "../../src/summary/transcript.js";
import { runs } from "../runs.js";
import { textPlans, writeText } from "../texts.js";

const quarter = (text: string): number => Math.ceil(text.length / 4);

test("the pieces hold everything, in order, each within the limit, and no fact is cut in two", () => {
  const texts = fc.array(textPlans, { maxLength: 8 });
  const estimate = characterEstimate();
  const counters = fc.constantFrom(quarter, (text: string) => estimate.countText(text));
  fc.assert(
    fc.property(texts, fc.integer({ min: 40, max: 2_000 }), counters, (plans, max, count) => {
      const facts = plans.map((_, index) => `[fact-${index}]`);
      const said = plans.map((plan, index) => writeText(plan, facts[index] as string));
      const chunks = transcriptChunks(said, max, count);
      const plain = (text: string): string => text.replaceAll("\n\n", "");
      assert.equal(plain(chunks.join("")), plain(said.join("")));
      for (const chunk of chunks) assert.ok(count(chunk) <= max);
      for (const fact of facts) assert.ok(chunks.some((chunk) => chunk.includes(fact)));
      if (chunks.length > 1) {
        const whole = said.reduce((sum, text) => sum + count(text) + 2, 0);
        assert.ok(whole > max, "no more pieces than it takes");
      }
    }),
    runs(),
  );
});

test("what has no spaces is cut all the same, and never inside a pair", () => {
  const chunks = transcriptChunks(["😀".repeat(1_000)], 100, quarter);
  expect(chunks.join("")).toBe("😀".repeat(1_000));
  for (const chunk of chunks) expect(chunk).toMatch(/^(😀)+$/u);
  expect(transcriptChunks([], 100, quarter)).toEqual([]);
});
