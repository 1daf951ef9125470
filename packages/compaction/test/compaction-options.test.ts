import { ConfigurationError } from "@holdfast/core";
import { expect, test } from "vitest";
import { readCompactionOptions, withOverrides } from "../src/compaction-options.js";
import { compaction } from "../src/index.js";

function problemsOf(run: () => unknown): readonly string[] {
  try {
    run();
  } catch (error) {
    if (ConfigurationError.is(error)) return (error as ConfigurationError).problems;
    throw error;
  }
  return [];
}

test.each<[Record<string, unknown>, RegExp]>([
  [{ triggerMessages: -1 }, /^compaction: option triggerMessages is -1: .*>=0/],
  [{ triggerTokens: 0 }, /option triggerTokens is 0: .*>=1/],
  [{ triggerRatio: 0.95 }, /option triggerRatio is 0.95: .*<=0.9/],
  [{ triggerRatio: 0 }, /option triggerRatio is 0: .*>0/],
  [
    { triggerRatio: 0.5, triggerTokens: 5 },
    /^compaction: set triggerRatio or triggerTokens, not both$/,
  ],
  [
    { keepMessages: 9, triggerMessages: 9 },
    /keepMessages is 9: must be less than triggerMessages \(9\)/,
  ],
  [
    { keepMessages: 60 },
    /keepMessages is 60: must be less than the default triggerMessages \(50\)/,
  ],
  [{ keepTokens: 7, triggerTokens: 5 }, /keepTokens is 7: must be less than triggerTokens \(5\)/],
  [
    { reserveRatio: 0.6, triggerRatio: 0.5 },
    /reserveRatio is 0.6: must be less than triggerRatio \(0.5\)/,
  ],
  [{ summarize: "no" }, /option summarize is "no": must be true or false$/],
  [{ model: {} }, /option model is an object: must have a stream function/],
  [{ timeoutMs: 0.5 }, /option timeoutMs is 0.5: .*int/],
  [{ summarySchema: 7 }, /option summarySchema is 7: must be a schema/],
  [
    { truncateArgs: { maxArgLength: 5 } },
    /truncateArgs.truncationText is "... \[truncated\] ...": must not be longer/,
  ],
  [
    { truncateArgs: { keep: 5 } },
    /^compaction: truncateArgs: unknown option "keep"; there are .*maxArgLength/,
  ],
  [{ prune: { maxResultChars: 10 } }, /option prune.maxResultChars is 10: .*>=200/],
  [{ prune: { exclude: [7] } }, /option prune.exclude.0 is 7: .*string/],
  [{ summaryTemplate: "Summary: {goal}" }, /summaryTemplate is "Summary: \{goal\}": .*\{summary\}/],
  [{ summaryTemplate: "none", summarySchema: {} }, /summaryTemplate is "none": .*name of a field/],
  [{ keepLast: 5 }, /^compaction: unknown option "keepLast"; there are triggerMessages, /],
  [
    { trigerMessages: 5 },
    /^compaction: unknown option "trigerMessages"; did you mean triggerMessages\?$/,
  ],
  [
    { prune: { protectToken: 5 } },
    /^compaction: prune: unknown option "protectToken"; did you mean protectTokens\?$/,
  ],
])("%o is refused with the option, the value and what is accepted", (options, problem) => {
  const problems = problemsOf(() => compaction(options));
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(problem);
});

test("a tail longer than the default trigger is fine when another trigger is given", () => {
  for (const trigger of [{ triggerMessages: 100 }, { triggerTokens: 9_000 }, { triggerRatio: 0.5 }])
    expect(problemsOf(() => compaction({ keepMessages: 60, ...trigger }))).toEqual([]);
});

test("steps that are switched on have their documented defaults", () => {
  const settings = readCompactionOptions({ truncateArgs: true, prune: {} });
  expect(settings).toMatchObject({
    summarize: true,
    reservedTokens: 20_000,
    timeoutMs: 120_000,
    flushBeforeCompact: true,
    offloadBeforeCompact: true,
    truncateArgs: {
      triggerMessages: 25,
      triggerTokens: 40_000,
      keepMessages: 20,
      maxArgLength: 2_000,
      truncationText: "... [truncated] ...",
    },
    prune: { protectTokens: 40_000, minimumTokens: 20_000, maxResultChars: 2_000, exclude: [] },
  });
  const off = readCompactionOptions({ truncateArgs: false });
  expect([off.truncateArgs, off.prune]).toEqual([null, null]);
});

test("a one-off tail or trigger takes the place of the configured one, whatever its unit", () => {
  const configured = { keepMessages: 5, triggerRatio: 0.5 };
  const once = withOverrides(configured, { keepTokens: 300, triggerTokens: 1_000 });
  expect(once).toMatchObject({ keepTokens: 300, triggerTokens: 1_000 });
  expect(once.keepMessages).toBeUndefined();
  const both = { keepTokens: 300, keepMessages: 3 };
  expect(withOverrides(configured, both)).toMatchObject(both);
  expect(once.triggerRatio).toBeUndefined();
  expect(problemsOf(() => withOverrides(configured, { keep: 1 }))[0]).toMatch(/^compact: .*"keep"/);
  expect(withOverrides(configured, { summarize: false })).toMatchObject({
    ...configured,
    summarize: false,
  });
});
