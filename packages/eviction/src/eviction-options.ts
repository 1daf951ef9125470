import { parseOptions } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";

/**
 * Tools whose results stay as they are.
 *
 * A list of names, in which `*` matches any characters, is added to `defaultExclude`. A function decides alone and gets the
 * decision of the defaults as an argument. The offloader's own read-back tool is excluded either way.
 */
export type ExcludedTools = readonly string[] | ((name: string, byDefault: boolean) => boolean);

/** Options of {@link toolResultEviction}. */
export interface EvictionOptions {
  /** Characters of text and data that a result may have. @default 80_000 */
  readonly maxResultChars?: number | undefined;
  /** Tokens that the text of a result may have, by the agent's token counter. @default no limit */
  readonly maxResultTokens?: number | undefined;
  /** Characters of the head that stay, and as many of the tail: less than half of `maxResultChars`. @default 2_000, or a quarter of a smaller limit */
  readonly previewChars?: number | undefined;
  /** Directory for offloaded results, if the offloader has directories: one name without slashes. @default "large_tool_results" */
  readonly directory?: string | undefined;
  /** Tools whose results stay, in addition to `defaultExclude`. @default [] */
  readonly exclude?: ExcludedTools | undefined;
  /** `"truncate"`: without an offloader, keep head and tail; the conversation log has the whole. @default "error" */
  readonly onMissingOffloader?: "error" | "truncate" | undefined;
  /** Time the offloader may take for one result, after which the original stays. @default 30_000 */
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

/** Room for the notice of a preview; a text that is not longer than this is not worth moving. */
export const NOTICE_CHARS = 500;

const excludedTools: s.Schema<ExcludedTools> = s.union(
  [
    s.array(
      s
        .string()
        .regex(
          /^[a-zA-Z0-9_*-]+$/,
          "must be the name of a tool, in which * matches any characters",
        ),
    ),
    s.custom<Exclude<ExcludedTools, readonly string[]>>((value) => typeof value === "function"),
  ],
  "must be a list of tool names, in which * matches any characters, or a function",
);

const optionsSchema = s
  .strictObject({
    maxResultChars: s.int().min(1).default(80_000),
    maxResultTokens: s.int().min(1).optional(),
    previewChars: s.int().min(0).optional(),
    directory: s
      .string()
      .regex(/^[a-zA-Z0-9_-]{1,64}$/, "must be one name of letters, digits, _ and -")
      .default("large_tool_results"),
    exclude: excludedTools.default([]),
    onMissingOffloader: s.enum(["error", "truncate"]).default("error"),
    timeoutMs: s.int().min(1).default(30_000),
  })
  // Otherwise hardly a result would get smaller, and large ones would stay without a word.
  .superRefine(({ maxResultChars, previewChars = 0 }, context) => {
    if (previewChars > 0 && 2 * previewChars >= maxResultChars)
      context.addIssue({
        path: ["previewChars"],
        input: previewChars,
        message: `head and tail must fit into maxResultChars (${maxResultChars}), so it must be less than half of it`,
      });
  });

/**
 * Checks options and fills in defaults.
 *
 * @throws ConfigurationError
 */
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

/**
 * Tools whose results are never evicted by default: they return pages, or read evicted content back. Whole names: tools of an
 * MCP server may begin as these do.
 */
export const defaultExclude: readonly string[] = Object.freeze([
  "read_file",
  "write_file",
  "edit_file",
  "grep_files",
  "glob_files",
  "list_files",
  "memory_search",
  "memory_get",
  "memory_save",
  "session_list",
  "session_history",
  "session_search",
  "read_offloaded",
]);

const isDefault = matcherOf(defaultExclude);

/** Returns a function that tells whether the results of a tool stay as they are. */
export function excluder(exclude: ExcludedTools): (name: string) => boolean {
  if (typeof exclude === "function") return (name) => exclude(name, isDefault(name));
  return matcherOf([...defaultExclude, ...exclude]);
}

function matcherOf(patterns: readonly string[]): (name: string) => boolean {
  // Tool names contain no character that is special in a regular expression.
  const expressions = patterns.map((pattern) => new RegExp(`^${pattern.split("*").join(".*")}$`));
  return (name) => expressions.some((expression) => expression.test(name));
}
