import { createHash } from "node:crypto";
import { characterEstimate } from "@holdfast/core";
import { expect, test } from "vitest";
import { tiktokenCounter } from "../../src/index.js";
import { commonTexts, otherTexts } from "./corpus.js";

const exact = tiktokenCounter();
const estimate = characterEstimate();

/** By which part the estimate is above (or below, if negative) the count. */
function errorOf(text: string): number {
  return estimate.countText(text) / exact.countText(text) - 1;
}

test.each(Object.entries(commonTexts))("%s is estimated within 15 %%", (_, text) => {
  expect(Math.abs(errorOf(text))).toBeLessThan(0.15);
});

test.each(Object.entries(otherTexts))("%s is estimated within 20 %%", (_, text) => {
  expect(Math.abs(errorOf(text))).toBeLessThan(0.2);
});

test("all of it together is estimated within 5 %", () => {
  expect(Math.abs(errorOf(Object.values(commonTexts).join("\n\n")))).toBeLessThan(0.05);
});

const bytes = Buffer.concat(
  Array.from({ length: 60 }, (_, n) => createHash("sha512").update(`${n}`).digest()),
);
const rows = Array.from({ length: 300 }, (_, n) => n);

test.each([
  ["hexadecimal digits", bytes.toString("hex"), 0.1],
  ["decimal numbers", rows.map((n) => (n * 7919.37).toFixed(2)).join(" "), 0.1],
  ["CSV", rows.map((n) => `${n},2026-01-${10 + (n % 20)},item ${n % 7},true`).join("\n"), 0.1],
  ["deep indentation", rows.map((n) => `${" ".repeat(4 * (n % 12))}x = ${n}`).join("\n"), 0.2],
  // Random letters have shorter tokens than words. Too few by a quarter, and said so in the documentation.
  ["base64", bytes.toString("base64"), 0.3],
])("%s are estimated within a known error", (_, text, most) => {
  expect(Math.abs(errorOf(text))).toBeLessThan(most);
});
