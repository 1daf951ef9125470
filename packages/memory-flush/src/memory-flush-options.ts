import type { Model } from "@holdfast/core";
import { parseOptions } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";

/** Frequency of flushes after calls: at most once per `throttleMs` and session, after every call, or never. */
export type FlushTrigger = { readonly throttleMs: number } | "always" | "never";

/** Options of the consolidation of notes into `MEMORY.md`. */
export interface ConsolidationOptions {
  /** Least time between two consolidations of a user. @default 1_800_000 */
  readonly minGapMs?: number | undefined;
  /** Most tokens of `MEMORY.md` after a consolidation. @default 4_000 */
  readonly maxTokens?: number | undefined;
  /** Replaces the built-in instruction; memory and notes are quoted in the same way. */
  readonly prompt?: string | undefined;
}

/** Options of {@link memoryFlush}. */
export interface MemoryFlushOptions {
  /** Model that reads conversations and writes the memory. @default the agent's model */
  readonly model?: Model | undefined;
  /** Frequency of flushes after calls. Messages about to leave the context are always flushed. @default { throttleMs: 600_000 } */
  readonly flushTrigger?: FlushTrigger | undefined;
  /** Your own rules on what to note, for example "no personal data"; they override the built-in ones. */
  readonly flushPrompt?: string | undefined;
  readonly consolidation?: ConsolidationOptions | undefined;
  /** Age at which notes are archived, once they are merged into `MEMORY.md`. @default 90 */
  readonly dailyRetentionDays?: number | undefined;
  /** Age since its last record at which the conversation log of a session is deleted. @default never */
  readonly sessionRetentionDays?: number | undefined;
  /** Time limit of a model request, and of `close()`. @default 120_000 */
  readonly timeoutMs?: number | undefined;
  /**
   * Lets `close()` also run the flushes and consolidations that the throttle and the gap delay: for programs that end with a
   * conversation. A server, whose sessions continue elsewhere, does not need it. @default false
   */
  readonly finishOnClose?: boolean | undefined;
  /** Gives the model the tools `memory_search`, `memory_get` and `memory_save`. @default true */
  readonly tools?: boolean | undefined;
}

/** {@link MemoryFlushOptions} with defaults filled in. */
export interface MemoryFlushSettings {
  readonly model: Model | undefined;
  /** Null when calls trigger no flush. */
  readonly throttleMs: number | null;
  readonly flushPrompt: string | undefined;
  readonly consolidation: {
    readonly minGapMs: number;
    readonly maxTokens: number;
    readonly prompt?: string | undefined;
  };
  readonly dailyRetentionDays: number;
  readonly sessionRetentionDays: number | undefined;
  readonly timeoutMs: number;
  readonly finishOnClose: boolean;
  readonly tools: boolean;
}

const isModel = (value: unknown): boolean =>
  typeof (value as Model | undefined)?.stream === "function";
const triggerProblem = 'must be "always", "never" or { throttleMs: <milliseconds, at least 0> }';
const prompt = s.string().trim().min(1).optional();

const optionsSchema = s.strictObject({
  model: s.custom<Model>(isModel, "must be a Model: it has a stream function").optional(),
  flushTrigger: s
    .union(
      [s.enum(["always", "never"]), s.strictObject({ throttleMs: s.int().min(0) })],
      triggerProblem,
    )
    .default({ throttleMs: 600_000 }),
  flushPrompt: prompt,
  consolidation: s
    .strictObject({
      minGapMs: s.int().min(0).default(1_800_000),
      maxTokens: s.int().min(100).default(4_000),
      prompt,
    })
    .prefault({}),
  dailyRetentionDays: s.int().min(1).default(90),
  sessionRetentionDays: s.int().min(1).optional(),
  timeoutMs: s.int().min(1).default(120_000),
  finishOnClose: s.boolean().default(false),
  tools: s.boolean().default(true),
});

/** Parses the options. @throws ConfigurationError */
export function readOptions(options: MemoryFlushOptions): MemoryFlushSettings {
  const { flushTrigger, model, flushPrompt, sessionRetentionDays, ...rest } = parseOptions(
    optionsSchema,
    options,
    "memoryFlush",
  );
  const throttleMs =
    flushTrigger === "never" ? null : flushTrigger === "always" ? 0 : flushTrigger.throttleMs;
  return { ...rest, model, flushPrompt, sessionRetentionDays, throttleMs };
}
