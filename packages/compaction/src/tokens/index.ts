export * from "./gpt-tokenizer-counter.js";
export * from "./tiktoken-counter.js";
export type { BpeCounterOptions, TokenEncoding } from "./token-encoding.js";
