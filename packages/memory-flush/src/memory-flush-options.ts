import type { Model } from "@holdfast/core";
import { parseOptions } from "@holdfast/core/plugin-kit";
import { z } from "zod";

/** When facts are taken from a conversation: after a call, at most once in a while, or after every one, or never. */
export type FlushTrigger = { readonly throttleMs: number } | "always" | "never";

/** How `MEMORY.md` is put in order. */
export interface ConsolidationOptions {
  /** Least time between two for a user. @default 1_800_000 */
  readonly minGapMs?: number | undefined;
  /** Most tokens of `MEMORY.md` afterwards. @default 4_000 */
  readonly maxTokens?: number | undefined;
  /** In place of the built-in instruction; how memory and notes are quoted stays. */
  readonly prompt?: string | undefined;
}

/** What {@link memoryFlush} can be told. */
export interface MemoryFlushOptions {
  /** Reads conversations and writes memory. @default the agent's model */
  readonly model?: Model | undefined;
  /** What is about to leave a context is flushed whatever this says. @default { throttleMs: 600_000 } */
  readonly flushTrigger?: FlushTrigger | undefined;
  /** Rules of your own about what to keep, for example "no personal data"; they win over the built-in ones. */
  readonly flushPrompt?: string | undefined;
  readonly consolidation?: ConsolidationOptions | undefined;
  /** Notes of days longer ago go to the archive, once `MEMORY.md` has them. @default 90 */
  readonly dailyRetentionDays?: number | undefined;
  /** Conversation logs of sessions that were quiet for longer are deleted. @default never */
  readonly sessionRetentionDays?: number | undefined;
  /** Of one model request, and of what `close()` waits for. @default 120_000 */
  readonly timeoutMs?: number | undefined;
  /**
   * Whether `close()` also flushes and consolidates what the throttle and the gap still hold back: for programs that end when
   * a conversation does. A server, whose sessions go on elsewhere, need not. @default false
   */
  readonly finishOnClose?: boolean | undefined;
  /** Whether the model gets `memory_search`, `memory_get` and `memory_save`. @default true */
  readonly tools?: boolean | undefined;
}

/** {@link MemoryFlushOptions} with defaults filled in. */
export interface MemoryFlushSettings {
  readonly model: Model | undefined;
  /** null: no call triggers a flush. */
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
const prompt = z.string().trim().min(1).optional();

const optionsSchema = z.strictObject({
  model: z.custom<Model>(isModel, "must be a Model: it has a stream function").optional(),
  flushTrigger: z
    .union(
      [z.enum(["always", "never"]), z.strictObject({ throttleMs: z.int().min(0) })],
      triggerProblem,
    )
    .default({ throttleMs: 600_000 }),
  flushPrompt: prompt,
  consolidation: z
    .strictObject({
      minGapMs: z.int().min(0).default(1_800_000),
      maxTokens: z.int().min(100).default(4_000),
      prompt,
    })
    .prefault({}),
  dailyRetentionDays: z.int().min(1).default(90),
  sessionRetentionDays: z.int().min(1).optional(),
  timeoutMs: z.int().min(1).default(120_000),
  finishOnClose: z.boolean().default(false),
  tools: z.boolean().default(true),
});

/** @throws ConfigurationError */
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
