import type { Message } from "@holdfast/core";

/** Longest tail; what is null does not count. */
export interface TailLimit {
  readonly messages: number | null;
  readonly tokens: number | null;
}

/**
 * Index of the first message of the verbatim tail.
 *
 * By messages the tail is widened to whole pairs: so many were asked for. By tokens it is narrowed: so many fit. It never
 * reaches below `from`, and may be empty.
 */
export function tailStart(
  messages: readonly Message[],
  canCut: readonly boolean[],
  from: number,
  limit: TailLimit,
  tokensOf: (message: Message) => number,
): number {
  const { length } = messages;
  /** The longest tail so far that begins where a cut may be; null while open calls forbid any. */
  let best: number | null = canCut[length] ? length : null;
  let tokens = 0;
  for (let start = length; start > from; start--) {
    if (best === start && limit.messages !== null && length - start >= limit.messages) break;
    tokens += tokensOf(messages[start - 1] as Message);
    if (best !== null && limit.tokens !== null && tokens > limit.tokens) break;
    if (canCut[start - 1]) best = start - 1;
  }
  return best ?? from;
}
