import { parseOptions } from "@holdfast/core/plugin-kit";
import { z } from "zod";

/**
 * Tools whose results stay as they are.
 *
 * A list of names, `*` for any characters, is added to `defaultExclude`. A function decides alone; it is told what the
 * defaults say. The offloader's own read-back tool is excluded either way.
 */
export type ExcludedTools = readonly string[] | ((name: string, byDefault: boolean) => boolean);

/** What {@link toolResultEviction} can be told. */
export interface EvictionOptions {
  /** Characters of text and of data a result may have. @default 80_000 */
  readonly maxResultChars?: number | undefined;
  /** Tokens the text of a result may have, by the agent's token counter. @default no limit of its own */
  readonly maxResultTokens?: number | undefined;
  /** Characters of the head that stay, and as many of the tail. @default 2_000, or a quarter of a smaller limit */
  readonly previewChars?: number | undefined;
  /** Where the offloader puts them, if it has directories: one name without slashes. @default "large_tool_results" */
  readonly directory?: string | undefined;
  /** @default [], beside `defaultExclude` */
  readonly exclude?: ExcludedTools | undefined;
  /** `"truncate"`: where nothing can take results, keep head and tail; the whole is in the conversation log. @default "error" */
  readonly onMissingOffloader?: "error" | "truncate" | undefined;
  /** How long the offloader may take for one result; then the original stays. @default 30_000 */
  readonly timeoutMs?: number | undefined;
}

/** {@link EvictionOptions} with the defaults filled in. */
export interface EvictionSettings {
  readonly maxResultChars: number;
  readonly maxResultTokens: number;
  readonly previewChars: number;
  readonly directory: string;
  readonly exclude: ExcludedTools;
  readonly onMissingOffloader: "error" | "truncate";
  readonly timeoutMs: number;
}

/** Room for the notice between head and tail; a text that is no longer than this is not worth moving. */
export const NOTICE_CHARS = 500;

const excludedTools: z.ZodType<ExcludedTools> = z.union(
  [
    z.array(
      z.string().regex(/^[a-zA-Z0-9_*-]+$/, "must be the name of a tool, * for any characters"),
    ),
    z.custom<Exclude<ExcludedTools, readonly string[]>>((value) => typeof value === "function"),
  ],
  "must be a list of tool names, in which * stands for any characters, or a function",
);

const optionsSchema = z.strictObject({
  maxResultChars: z.int().min(1).default(80_000),
  maxResultTokens: z.int().min(1).optional(),
  previewChars: z.int().min(0).optional(),
  directory: z
    .string()
    .regex(/^[a-zA-Z0-9_-]{1,64}$/, "must be one name of letters, digits, _ and -")
    .default("large_tool_results"),
  exclude: excludedTools.default([]),
  onMissingOffloader: z.enum(["error", "truncate"]).default("error"),
  timeoutMs: z.int().min(1).default(30_000),
});

/** @throws ConfigurationError */
export function readOptions(options: EvictionOptions): EvictionSettings {
  const parsed = parseOptions(optionsSchema, options, "toolResultEviction");
  const { maxResultChars, maxResultTokens = Number.POSITIVE_INFINITY } = parsed;
  const quarter = Math.floor(Math.min(maxResultChars, maxResultTokens) / 4);
  return {
    ...parsed,
    maxResultTokens,
    previewChars: parsed.previewChars ?? Math.min(2_000, quarter),
  };
}
