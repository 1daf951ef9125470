import type { TokenCounter } from "@holdfast/core";
import { cutMiddle } from "../quote/cut-text.js";
import { quoted } from "../quote/quote-text.js";
import type { RenderedRecord } from "./read-unflushed.js";

/** Messages of one request. */
export interface Piece {
  readonly messages: readonly RenderedRecord[];
  /** Position of the last record it covers. */
  readonly through: number;
}

/** Takes the first messages that have at most `maxTokens` together, and at least one. */
export function firstPiece(
  messages: readonly RenderedRecord[],
  maxTokens: number,
  counter: TokenCounter,
): Piece {
  const taken: RenderedRecord[] = [];
  let tokens = 0;
  for (const message of messages) {
    tokens += counter.countText(message.text) + 1;
    if (tokens > maxTokens && taken.length > 0) break;
    taken.push(message);
  }
  return { messages: taken, through: taken.at(-1)?.seq ?? 0 };
}

/** Cuts the middle out of a message, to half its length; its own marks become text. */
export function halfOf({ seq, text }: RenderedRecord): RenderedRecord {
  return { seq, text: quoted("message", { shortened: "yes" }, cutMiddle(text, text.length >> 1)) };
}
