import { expect, test } from "vitest";
import { formatDuration } from "../../src/terminal/format.js";

test.each([
  [12.4, "12 ms"],
  [3_400, "3.4 s"],
  [125_000, "2 min 5 s"],
  [3_600_000, "1 h 0 min"],
  [11_520_000, "3 h 12 min"],
  [190_800_000, "2 d 5 h"],
])("%d ms are %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});
