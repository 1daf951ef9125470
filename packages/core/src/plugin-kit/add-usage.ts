import type { Usage } from "../message/message.js";

/** The usage of no request at all: what a sum starts from. */
export const noUsage: Usage = { inputTokens: 0, outputTokens: 0 };

/** Adds up the tokens of two requests. */
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
