import type { ExcludedTools } from "./eviction-options.js";

/**
 * Tools whose results are never evicted by default: they answer in pages, or read back what was evicted. `*` stands for any
 * characters.
 */
export const defaultExclude: readonly string[] = Object.freeze([
  "read_file",
  "write_file",
  "edit_file",
  "grep_files",
  "glob_files",
  "list_files",
  "memory_*",
  "session_*",
  "read_offloaded",
]);

const isDefault = matcherOf(defaultExclude);

/** Whether the results of a tool stay as they are. */
export function excluder(exclude: ExcludedTools): (name: string) => boolean {
  if (typeof exclude === "function") return (name) => exclude(name, isDefault(name));
  return matcherOf([...defaultExclude, ...exclude]);
}

function matcherOf(patterns: readonly string[]): (name: string) => boolean {
  // Names of tools have no character that means something in an expression.
  const expressions = patterns.map((pattern) => new RegExp(`^${pattern.split("*").join(".*")}$`));
  return (name) => expressions.some((expression) => expression.test(name));
}
