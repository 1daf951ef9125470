import type { TokenCounter } from "@holdfast/core";
import { tokenCounterOf } from "@holdfast/core/plugin-kit";
import { countInPieces } from "./count-in-pieces.js";
import { loadPeer } from "./load-peer.js";
import { type BpeCounterOptions, bpeOptions, type TokenEncoding } from "./token-encoding.js";

/** The part of a `Tiktoken` of `tiktoken` or `tiktoken/lite` that is used. */
export interface TiktokenEncoder {
  /** Encodes a text in which special tokens are plain text. */
  encode_ordinary(text: string): { readonly length: number };
}

/** The part of `tiktoken/lite` that is used. */
interface TiktokenModule {
  readonly Tiktoken: new (
    ranks: string,
    specialTokens: Record<string, number>,
    pattern: string,
  ) => TiktokenEncoder;
}

/** The part of `tiktoken/encoders/*.json` that is used. */
interface TiktokenVocabulary {
  readonly bpe_ranks: string;
  readonly special_tokens: Record<string, number>;
  readonly pat_str: string;
}

/** One encoder per vocabulary and process: each takes tens of megabytes of WebAssembly memory that are never freed. */
const encoders = new Map<TokenEncoding, TiktokenEncoder>();

/**
 * Counts with OpenAI's own encoder, compiled to WebAssembly. Needs the package `tiktoken`; its vocabulary is loaded
 * with the first counter of an encoding. Special tokens in a text count as the text they are.
 *
 * @throws `ConfigurationError` (`CONFIGURATION`) when `tiktoken` is not installed or an option is wrong.
 *
 * @example
 * const counter = tiktokenCounter();
 * counter.countText("counted exactly");
 *
 * @example
 * import { Tiktoken } from "tiktoken/lite";
 * import vocabulary from "tiktoken/encoders/o200k_base";
 * const encoder = new Tiktoken(vocabulary.bpe_ranks, {}, vocabulary.pat_str);
 * const counter = tiktokenCounter({ encoder }); // in a bundle
 */
export function tiktokenCounter(options: BpeCounterOptions<TiktokenEncoder> = {}): TokenCounter {
  const { encoding, encoder: given } = bpeOptions(options, "tiktokenCounter", ["encode_ordinary"]);
  const encoder = given ?? installedEncoder(encoding);
  return tokenCounterOf({
    id: `tiktoken:${encoding}`,
    countText: (text) => countInPieces(text, (piece) => encoder.encode_ordinary(piece).length),
  });
}

function installedEncoder(encoding: TokenEncoding): TiktokenEncoder {
  const known = encoders.get(encoding);
  if (known !== undefined) return known;
  const { Tiktoken } = loadPeer("tiktoken/lite") as TiktokenModule;
  const vocabulary = loadPeer(`tiktoken/encoders/${encoding}.json`) as TiktokenVocabulary;
  // Special tokens are only needed to recognise them in a text, where they count as plain text here.
  const encoder = new Tiktoken(vocabulary.bpe_ranks, {}, vocabulary.pat_str);
  encoders.set(encoding, encoder);
  return encoder;
}
