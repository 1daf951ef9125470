import type { Usage } from "../message/message.js";

/** Two usages added up. */
export function addUsage(one: Usage, other: Usage): Usage {
  const cached =
    one.cachedInputTokens === undefined && other.cachedInputTokens === undefined
      ? undefined
      : (one.cachedInputTokens ?? 0) + (other.cachedInputTokens ?? 0);
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    ...(cached !== undefined && { cachedInputTokens: cached }),
  };
}
