import { expect, test } from "vitest";
import { addUsage } from "../../src/plugin-kit/index.js";

test("usages are added up, and cached tokens only where somebody counted them", () => {
  const [one, two] = [
    { inputTokens: 1, outputTokens: 2 },
    { inputTokens: 10, outputTokens: 20, cachedInputTokens: 5 },
  ];
  expect(addUsage(one, one)).toStrictEqual({ inputTokens: 2, outputTokens: 4 });
  const sum = { inputTokens: 11, outputTokens: 22, cachedInputTokens: 5 };
  expect(addUsage(one, two)).toStrictEqual(sum);
  expect(addUsage(two, one)).toStrictEqual(sum);
  expect(addUsage(two, two).cachedInputTokens).toBe(10);
});
