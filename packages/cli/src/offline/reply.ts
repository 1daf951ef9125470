import type { JsonObject } from "@holdfast/core";

/** A tool the script wants to use. */
export interface WantedCall {
  readonly name: string;
  readonly input: JsonObject;
}

/** What the script answers: words, or tools it wants to use first. */
export interface Reply {
  readonly text?: string | undefined;
  readonly toolCalls?: readonly WantedCall[] | undefined;
}

/** A reply of words. */
export function say(text: string): Reply {
  return { text };
}
