import type { PromptScope } from "./prompt-scope.js";

/**
 * A tool's name as a provider takes it. Models call tools that do not exist, by names such as `functions.read file`; such
 * a call stays in the history, and a provider would refuse every later request for it.
 */
export function toolNameIn(scope: PromptScope, name: string): string {
  if (scope.toolNames.has(name)) return name;
  return name.replace(/[^\w-]/g, "_").slice(0, 64) || "unknown_tool";
}
