import { expect, test } from "vitest";
import { isOver } from "../src/budget.js";
import { readCompactionOptions } from "../src/compaction-options.js";
import { budgetOf, type CompactionOptions } from "../src/index.js";

const budget = (options: CompactionOptions, window?: number) =>
  budgetOf(readCompactionOptions(options), window);

test("defaults: 50 messages or the window less 20,000 tokens; a quarter of that, 2,000 to 8,000 tokens, is kept", () => {
  expect(budget({}, 100_000)).toEqual({
    windowTokens: 100_000,
    triggerMessages: 50,
    triggerTokens: 80_000,
    keepMessages: null,
    keepTokens: 8_000,
    isTailGiven: false,
    reservedTokens: 20_000,
  });
  expect(budget({}, 40_000)).toMatchObject({ triggerTokens: 20_000, keepTokens: 5_000 });
  expect(budget({}, 24_000)).toMatchObject({ triggerTokens: 4_000, keepTokens: 2_000 });
});

test("with an unknown window: 160,000 tokens, and 20 messages are kept", () => {
  expect(budget({})).toEqual({
    windowTokens: null,
    triggerMessages: 50,
    triggerTokens: 160_000,
    keepMessages: 20,
    keepTokens: null,
    isTailGiven: false,
    reservedTokens: 20_000,
  });
});

test.each<[CompactionOptions, number | undefined, Partial<ReturnType<typeof budget>>]>([
  [{ triggerTokens: 900 }, 10_000, { triggerTokens: 900, triggerMessages: null }],
  [{ triggerRatio: 0.5 }, 10_000, { triggerTokens: 5_000, triggerMessages: null }],
  [{ triggerRatio: 0.5 }, undefined, { triggerTokens: 90_000 }],
  [{ triggerTokens: 900, triggerMessages: 7 }, 10_000, { triggerTokens: 900, triggerMessages: 7 }],
  [{ triggerMessages: 0 }, 30_000, { triggerTokens: 10_000, triggerMessages: null }],
  [{ reservedTokens: 1_000 }, 10_000, { triggerTokens: 9_000, keepTokens: 2_250 }],
  [{ reservedTokens: 20_000 }, 8_000, { triggerTokens: 4_000 }],
  [{ keepMessages: 4 }, 100_000, { keepMessages: 4, keepTokens: null }],
  [{ keepTokens: 300 }, undefined, { keepMessages: null, keepTokens: 300 }],
  [{ triggerRatio: 0.8, reserveRatio: 0.1 }, 10_000, { keepTokens: 1_000, keepMessages: null }],
  [{ keepTokens: 300, keepMessages: 3 }, 10_000, { keepTokens: 300, keepMessages: 3 }],
])("%o with a window of %s", (options, window, expected) => {
  expect(budget(options, window)).toMatchObject(expected);
});

test("either trigger fires, at its number and above", () => {
  const both = budget({ triggerMessages: 10, triggerTokens: 100 });
  expect(isOver(both, 9, 99)).toBe(false);
  expect(isOver(both, 10, 0)).toBe(true);
  expect(isOver(both, 0, 100)).toBe(true);
  expect(isOver(budget({ triggerTokens: 100 }), 1_000, 99)).toBe(false);
});
