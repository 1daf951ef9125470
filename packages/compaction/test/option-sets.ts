import type { ToolSchema } from "@holdfast/core";
import fc from "fast-check";
import type { CompactionOptions } from "../src/index.js";

const size = (min: number, max: number) => fc.integer({ min, max });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

/** When to fire and what to keep: by messages, tokens or ratios. */
const limits: fc.Arbitrary<CompactionOptions> = fc.oneof(
  size(2, 16).chain((triggerMessages) =>
    fc.record({
      triggerMessages: fc.constant(triggerMessages),
      keepMessages: maybe(size(1, triggerMessages - 1)),
    }),
  ),
  size(60, 4_000).chain((triggerTokens) =>
    fc.record({
      triggerTokens: fc.constant(triggerTokens),
      keepTokens: maybe(size(1, triggerTokens - 1)),
    }),
  ),
  fc.constant({ triggerRatio: 0.5, reserveRatio: 0.2 }),
  fc.record({
    triggerMessages: size(5, 12),
    triggerTokens: size(200, 4_000),
    keepMessages: size(1, 4),
    keepTokens: size(20, 199),
  }),
);

const summaries: fc.Arbitrary<CompactionOptions> = fc.record({
  summaryPrompt: fc.constantFrom(
    "Summarise.",
    "Summarise this: {messages} $& Now.",
    "Sum it up; carry {summary} over.",
  ),
  summaryTemplate: fc.constantFrom(undefined, undefined, "What was said: {summary} $&"),
  instructions: fc.constantFrom(undefined, "Never forget $' names."),
});

const structured: fc.Arbitrary<CompactionOptions> = fc.constant({
  summaryPrompt: "Summarise.",
  summarySchema: {
    type: "object",
    properties: { state: { type: "string" }, next: { type: "array" } },
    required: ["state"],
  },
  summaryTemplate: "State: {state}\nNext: {next}",
});

const cheap: fc.Arbitrary<CompactionOptions> = fc.record({
  truncateArgs: fc.oneof(
    fc.constant(undefined),
    fc.boolean(),
    fc.record({
      triggerMessages: size(1, 6),
      keepMessages: size(0, 5),
      maxArgLength: size(19, 200),
    }),
  ),
  prune: fc.oneof(
    fc.constant(undefined),
    fc.boolean(),
    fc.record({
      protectTokens: size(0, 500),
      minimumTokens: size(0, 100),
      maxResultChars: size(200, 400),
    }),
  ),
});

/** Options of every kind, small enough that they act on small conversations. */
export const optionSets: fc.Arbitrary<CompactionOptions> = fc
  .tuple(
    limits,
    fc.oneof({ weight: 4, arbitrary: summaries }, { weight: 1, arbitrary: structured }),
    fc.oneof({ weight: 2, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: cheap }),
    fc.record({
      reservedTokens: size(0, 500),
      summarize: fc.constantFrom(true, true, true, false),
    }),
    fc.record({ flushBeforeCompact: fc.boolean(), offloadBeforeCompact: fc.boolean() }),
  )
  .map((parts) => Object.assign({}, ...parts) as CompactionOptions);

/** Windows of the agent's model: unknown, small, or large. */
export const windows: fc.Arbitrary<number | undefined> = fc.oneof(
  fc.constant(undefined),
  size(900, 3_000),
  size(3_000, 30_000),
);

/** A tool in every prompt, so that a model can call one instead of writing a summary. */
export const tools: readonly ToolSchema[] = [
  { name: "look", description: "Looks.", inputSchema: { type: "object" } },
];
