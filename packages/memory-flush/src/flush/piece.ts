import type { TokenCounter } from "@holdfast/core";
import { cutMiddle } from "../quote/cut-text.js";
import { quoted } from "../quote/quote-text.js";
import type { RenderedRecord } from "./read-unflushed.js";

/** As many messages as one request takes. */
export interface Piece {
  readonly messages: readonly RenderedRecord[];
  /** The last record it covers. */
  readonly through: number;
}

/** The first messages, at least one, of together at most `maxTokens`. */
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

/** A message of half the length: what is left of its text, with its own marks as text. */
export function halfOf({ seq, text }: RenderedRecord): RenderedRecord {
  return { seq, text: quoted("message", { shortened: "yes" }, cutMiddle(text, text.length >> 1)) };
}
