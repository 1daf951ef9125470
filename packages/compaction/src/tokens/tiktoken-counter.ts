import type { TokenCounter } from "@holdfast/core";
import { tokenCounterOf } from "@holdfast/core/plugin-kit";
import { countInPieces } from "./count-in-pieces.js";
import { loadPeer } from "./load-peer.js";
import { type BpeCounterOptions, encodingOf, type TokenEncoding } from "./token-encoding.js";

/** The part of `tiktoken/lite` that is used. */
interface TiktokenModule {
  readonly Tiktoken: new (
    ranks: string,
    specialTokens: Record<string, number>,
    pattern: string,
  ) => { encode_ordinary(text: string): Uint32Array };
}

/** The part of `tiktoken/encoders/*.json` that is used. */
interface TiktokenVocabulary {
  readonly bpe_ranks: string;
  readonly special_tokens: Record<string, number>;
  readonly pat_str: string;
}

/** One encoder per vocabulary and process: each takes tens of megabytes of WebAssembly memory that are never freed. */
const encoders = new Map<TokenEncoding, (text: string) => number>();

/**
 * Counts with OpenAI's own encoder, compiled to WebAssembly. Needs the package `tiktoken`; its vocabulary is loaded
 * with the first counter of an encoding. Special tokens in a text count as the text they are.
 *
 * @throws `ConfigurationError` (`CONFIGURATION`) when `tiktoken` is not installed or an option is wrong.
 *
 * @example
 * const counter = tiktokenCounter();
 * counter.countText("counted exactly");
 */
export function tiktokenCounter(options: BpeCounterOptions = {}): TokenCounter {
  const encoding = encodingOf(options, "tiktokenCounter");
  let count = encoders.get(encoding);
  if (count === undefined) {
    count = loadEncoder(encoding);
    encoders.set(encoding, count);
  }
  const countPiece = count;
  return tokenCounterOf({
    id: `tiktoken:${encoding}`,
    countText: (text) => countInPieces(text, countPiece),
  });
}

function loadEncoder(encoding: TokenEncoding): (text: string) => number {
  const { Tiktoken } = loadPeer("tiktoken/lite") as TiktokenModule;
  const vocabulary = loadPeer(`tiktoken/encoders/${encoding}.json`) as TiktokenVocabulary;
  // Special tokens are only needed to recognise them in a text, where they count as plain text here.
  const encoder = new Tiktoken(vocabulary.bpe_ranks, {}, vocabulary.pat_str);
  return (text) => encoder.encode_ordinary(text).length;
}
