import type { LogRecord, TokenCounter } from "@holdfast/core";

/** Tokens a session would have sent if every request held everything said before it. */
export interface WholeHistory {
  /** Tokens of the last request of each call. */
  readonly lastRequestOf: ReadonlyMap<string, number>;
  /** Tokens of all requests together. */
  readonly totalTokens: number;
}

/** Computes the figures from the log, with the counter that the model uses. */
export function wholeHistory(
  records: readonly LogRecord[],
  counter: TokenCounter,
  promptTokens: number,
): WholeHistory {
  const lastRequestOf = new Map<string, number>();
  let tokens = promptTokens;
  let totalTokens = 0;
  for (const { callId, message } of records) {
    if (message === undefined) continue;
    // Every reply answered one request, which held everything before it.
    if (message.role === "assistant") {
      lastRequestOf.set(callId, tokens);
      totalTokens += tokens;
    }
    tokens += counter.countMessages([message]);
  }
  return { lastRequestOf, totalTokens };
}
