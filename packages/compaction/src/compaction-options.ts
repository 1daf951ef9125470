import type { JsonObject, Model, ToolInputSchema } from "@holdfast/core";
import { parseOptions } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";

/** Clips long string arguments of old tool calls; no model call. */
export interface TruncateArgsOptions {
  /** Act at this many messages. @default 25 */
  readonly triggerMessages?: number | undefined;
  /** Act at this many tokens. @default 40_000 */
  readonly triggerTokens?: number | undefined;
  /** The newest messages, which are never touched. @default 20 */
  readonly keepMessages?: number | undefined;
  /** Strings longer than this are clipped to it. @default 2_000 */
  readonly maxArgLength?: number | undefined;
  /** Marker in place of the text that was removed. @default "... [truncated] ..." */
  readonly truncationText?: string | undefined;
}

/** Clips old tool results to head and tail; no model call. */
export interface PruneOptions {
  /** Tokens of the newest tool results that are never touched. @default 40_000 */
  readonly protectTokens?: number | undefined;
  /** Act only if it saves at least this many tokens. @default 20_000 */
  readonly minimumTokens?: number | undefined;
  /** Results with more text than this are clipped to it. @default 2_000 */
  readonly maxResultChars?: number | undefined;
  /** Names of tools whose results stay whole. @default none */
  readonly exclude?: readonly string[] | undefined;
}

/** Prompt, schema and template of summaries. */
export interface SummaryFormat {
  /**
   * Instruction to the summariser. The conversation is put in place of `{messages}` as text; without that, it precedes the
   * instruction. @default asks for SESSION INTENT, SUMMARY, ARTIFACTS and NEXT STEPS
   */
  readonly summaryPrompt?: string | undefined;
  /** Text that enters the context, with `{summary}`, or with a schema `{field}`, in place of what the summariser wrote. */
  readonly summaryTemplate?: string | undefined;
  /** The summary as an object: a Standard Schema (zod), or a JSON Schema. A reply that does not match it counts as plain text. */
  readonly summarySchema?: ToolInputSchema | JsonObject | undefined;
}

/** Options of {@link compaction}. Triggers and tails are in messages, in tokens, or in ratios of the window. */
export interface CompactionOptions extends SummaryFormat {
  /** Fire at this many messages; 0 = off. @default 50, or off when only a token trigger is given */
  readonly triggerMessages?: number | undefined;
  /** Fire at this many tokens of the whole request. @default window − reservedTokens, 160,000 if the window is unknown */
  readonly triggerTokens?: number | undefined;
  /** Fire at this fraction of the window, at most 0.9, instead of `triggerTokens`. */
  readonly triggerRatio?: number | undefined;
  /** Room for the reply and the summary call. @default 20_000 */
  readonly reservedTokens?: number | undefined;
  /** Messages of the verbatim tail, widened to whole pairs of tool call and result. */
  readonly keepMessages?: number | undefined;
  /** Tokens of the verbatim tail. @default min(8,000, max(2,000, 25 %)), or 20 messages if the window is unknown */
  readonly keepTokens?: number | undefined;
  /** Fraction of the window for the verbatim tail; less than `triggerRatio`. */
  readonly reserveRatio?: number | undefined;
  /** `false`: only the cheap steps. @default true */
  readonly summarize?: boolean | undefined;
  /** Model that writes the summaries. @default the agent's model */
  readonly model?: Model | undefined;
  /** Time limit of a whole summary, however many requests it takes. @default 120_000 */
  readonly timeoutMs?: number | undefined;
  /** Text added to the summary prompt, for example facts that must never be lost. */
  readonly instructions?: string | undefined;
  /** Run `onContextDrop` before messages leave. @default true */
  readonly flushBeforeCompact?: boolean | undefined;
  /** Hand messages that leave to the agent's Offloader, if it has one, and name the reference in the summary. @default true */
  readonly offloadBeforeCompact?: boolean | undefined;
  /** Clip long arguments of old tool calls. @default off */
  readonly truncateArgs?: boolean | TruncateArgsOptions | undefined;
  /** Clip old tool results. @default off */
  readonly prune?: boolean | PruneOptions | undefined;
}

/** {@link TruncateArgsOptions} with defaults filled in. */
export type TruncateArgs = {
  readonly [K in keyof TruncateArgsOptions]-?: NonNullable<TruncateArgsOptions[K]>;
};
/** {@link PruneOptions} with defaults filled in. */
export type Prune = { readonly [K in keyof PruneOptions]-?: NonNullable<PruneOptions[K]> };

/** {@link CompactionOptions}, checked, with the defaults that do not depend on the model filled in. */
export interface CompactionSettings
  extends Omit<CompactionOptions, "truncateArgs" | "prune" | "summarize" | "reservedTokens"> {
  readonly summarize: boolean;
  readonly reservedTokens: number;
  readonly timeoutMs: number;
  readonly flushBeforeCompact: boolean;
  readonly offloadBeforeCompact: boolean;
  readonly truncateArgs: TruncateArgs | null;
  readonly prune: Prune | null;
}

/** Messages at which a compaction fires if no trigger is given. */
export const DEFAULT_TRIGGER_MESSAGES = 50;

const count = s.int().min(1);
const ratio = s.number().gt(0).max(0.9);

const truncateArgs = s
  .strictObject({
    triggerMessages: count.default(25),
    triggerTokens: count.default(40_000),
    keepMessages: s.int().min(0).default(20),
    maxArgLength: count.default(2_000),
    truncationText: s.string().default("... [truncated] ..."),
  })
  // Otherwise a clipped string would be too long again.
  .superRefine(({ maxArgLength, truncationText }, context) => {
    if (truncationText.length > maxArgLength)
      context.addIssue({
        path: ["truncationText"],
        input: truncationText,
        message: `must not be longer than maxArgLength (${maxArgLength})`,
      });
  });

const prune = s.strictObject({
  protectTokens: s.int().min(0).default(40_000),
  minimumTokens: s.int().min(0).default(20_000),
  maxResultChars: s.int().min(200).default(2_000),
  exclude: s.array(s.string()).default([]),
});

/** Reads `true` as the step with its defaults, `false` and undefined as no step. */
function step<T>(schema: s.Schema<T>): s.Schema<T | null> {
  return s.preprocess(
    (value) => (value === true ? {} : value === false || value === undefined ? null : value),
    schema.nullable(),
  ) as s.Schema<T | null>;
}

const isModel = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "stream" in value;
const isSchema = (value: unknown): boolean =>
  (typeof value === "object" && value !== null) || typeof value === "function";

const optionsSchema = s
  .strictObject({
    triggerMessages: s.int().min(0).optional(),
    triggerTokens: count.optional(),
    triggerRatio: ratio.optional(),
    reservedTokens: s.int().min(0).default(20_000),
    keepMessages: count.optional(),
    keepTokens: count.optional(),
    reserveRatio: ratio.optional(),
    summarize: s.boolean().default(true),
    summaryPrompt: s.string().min(1).optional(),
    summaryTemplate: s.string().min(1).optional(),
    summarySchema: s
      .custom<NonNullable<SummaryFormat["summarySchema"]>>(isSchema, "must be a schema")
      .optional(),
    model: s.custom<Model>(isModel, "must have a stream function").optional(),
    timeoutMs: count.default(120_000),
    instructions: s.string().optional(),
    flushBeforeCompact: s.boolean().default(true),
    offloadBeforeCompact: s.boolean().default(true),
    truncateArgs: step(truncateArgs),
    prune: step(prune),
  })
  .superRefine((options, context) => {
    const { triggerMessages, triggerTokens, triggerRatio } = options;
    const { keepMessages, keepTokens, reserveRatio } = options;
    const less = (
      small: number | undefined,
      large: number | undefined,
      path: string,
      of: string,
    ) => {
      if (small !== undefined && large && small >= large)
        context.addIssue({
          path: [path],
          input: small,
          message: `must be less than ${of} (${large})`,
        });
    };
    const hasTokenTrigger = triggerTokens !== undefined || triggerRatio !== undefined;
    if (triggerMessages === undefined && !hasTokenTrigger)
      less(keepMessages, DEFAULT_TRIGGER_MESSAGES, "keepMessages", "the default triggerMessages");
    less(keepMessages, triggerMessages, "keepMessages", "triggerMessages");
    less(keepTokens, triggerTokens, "keepTokens", "triggerTokens");
    less(reserveRatio, triggerRatio, "reserveRatio", "triggerRatio");
    const { summaryTemplate, summarySchema } = options;
    const place = summarySchema === undefined ? /\{summary\}/ : /\{\w+\}/;
    if (summaryTemplate !== undefined && !place.test(summaryTemplate))
      context.addIssue({
        path: ["summaryTemplate"],
        input: summaryTemplate,
        message: "must say where the summary goes: {summary}, or with a schema the name of a field",
      });
    if (triggerTokens !== undefined && triggerRatio !== undefined)
      context.addIssue({
        message: "set triggerRatio or triggerTokens, not both",
      });
  });

/**
 * Checks options and fills in defaults.
 *
 * @throws ConfigurationError
 */
export function readCompactionOptions(
  options: CompactionOptions,
  where = "compaction",
): CompactionSettings {
  return parseOptions(optionsSchema as unknown as s.Schema<CompactionSettings>, options, where);
}

/**
 * Applies a caller's one-off options to the settings.
 *
 * @throws ConfigurationError
 */
export function withOverrides(
  options: CompactionOptions,
  overrides: JsonObject,
): CompactionSettings {
  const merged: Record<string, unknown> = { ...options };
  // A one-off tail or trigger replaces the configured one, whichever unit that is in.
  for (const names of alternatives)
    if (names.some((name) => Object.hasOwn(overrides, name)))
      for (const name of names) delete merged[name];
  Object.assign(merged, overrides);
  return readCompactionOptions(merged as CompactionOptions, "compact");
}

const alternatives: readonly (readonly string[])[] = [
  ["keepMessages", "keepTokens", "reserveRatio"],
  ["triggerTokens", "triggerRatio"],
];
