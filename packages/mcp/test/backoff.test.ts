import { expect, test } from "vitest";
import { backoffMs } from "../src/connection/backoff.js";

test("pauses double up to their limit and are never shorter than half", () => {
  const retry = { baseDelayMs: 100, maxDelayMs: 1_000 };
  const longest = [1, 2, 3, 4, 5, 1_000].map((failures) => backoffMs(failures, retry, () => 1));
  const shortest = [1, 2, 3, 4, 5, 1_000].map((failures) => backoffMs(failures, retry, () => 0));
  expect(longest).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  expect(shortest).toEqual([50, 100, 200, 400, 500, 500]);
});
