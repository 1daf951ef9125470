import { ContextOverflowError, ModelError } from "./errors.js";

/**
 * Messages with which providers and servers report a request longer than the model's window: OpenAI, Anthropic,
 * Google, Bedrock, Mistral, xAI, Cohere, watsonx, Databricks, Moonshot, MiniMax, Qwen, z.ai, Groq, OpenRouter, Together, vLLM, SGLang, TGI,
 * llama.cpp, LM Studio, Ollama.
 */
const overflowPatterns: readonly RegExp[] = [
  /context[_ ]length[_ ]exceeded/i,
  /exceed_context_size_error/i,
  /context_exceeded/i,
  /loaded with context length of only \d+ tokens/i,
  /model_context_window_exceeded/i,
  /request_too_large/i,
  /maximum (context|prompt|model|input) length/i,
  /exceeds? (the |this model's |its )?(available )?(context|maximum context) ?(window|size|length|limit)?/i,
  /exceeds? (the )?max(imum)? (context|prompt|input|number of (input )?tokens|length)/i,
  /exceeded (the )?(model )?(token limit|max(imum)? context)/i,
  /prompt (is )?too long/i,
  /input (is )?too long/i,
  /input length and `?max_tokens`? exceed/i,
  /input token count .{0,40}exceeds/i,
  /prompt token count .{0,40}exceeds/i,
  /(longer|larger|greater) than the (maximum )?(model|context) (length|size|window)/i,
  /too large for model with \d+ maximum context/i,
  /total number of tokens in the prompt cannot exceed/i,
  /`?inputs`? tokens \+ `?max_new_tokens`? must be/i,
  /range of input length should be/i,
  /context window exceeds limit/i,
  /context size has been exceeded/i,
  /reached context length of \d+|context overflow/i,
  /`?inputs`? must have less than \d+ tokens/i,
  /longer than the model's context length/i,
  // Fields of a request have a maximum allowed length as well.
  /(input|prompt)\b.{0,40}exceeds the maximum allowed (input )?length/i,
  /n_keep.{0,20}n_ctx/i,
  /reduce the length of (the|your) (messages|prompt|input)/i,
  // Not "exceeded your token limit", which is what an account may use.
  /exceed(s|ed)? (the |this model's |its |a )?(model'?s? |max(imum)? |allowed |input |prompt |total |configured )*token limit/i,
  /(?<!\b(api|access|refresh|output|completion|account|user) )token limit exceeded/i,
  /(input|prompt) tokens exceed(s|ed)? (the )?(configured |max(imum)? |allowed |model )*limit/i,
  /input tokens exceeded/i,
  /too many (input|prompt) tokens/i,
  /too many tokens: size limit exceeded/i,
  /(input|prompt) token count .{0,40}(cannot exceed|only supports up to)/i,
  /number of input tokens .{0,40}(cannot exceed|exceeds)/i,
  /messages have \d+ tokens, which exceeds/i,
  /prompt length .{0,60}(should not exceed|is greater than) max_\w+/i,
  /exceeds? max message tokens/i,
  /max_prompt_tokens_exceeded|tokens_limit_reached/i,
];

/** Messages about other limits, which mention tokens and "too large" as well. */
const otherLimits =
  /rate.?limit|too many requests|throttl|quota|tokens? per (sec|min|hour|day|week|month)|\b(hourly|daily|weekly|monthly)\b|\bTPM\b|\bRPM\b|overloaded|wait before trying|upgrade (your|to)\b/i;

const limitPatterns: readonly RegExp[] = [
  /maximum (?:context|prompt|model|input) length(?: is| of|:) (\d+)/i,
  /> ?(\d+) (?:maximum|tokens?)/i,
  /exceed context limit: \d+ \+ \d+ > (\d+)/i,
  /maximum number of tokens allowed \(?(\d+)/i,
  /with (\d+) maximum context length/i,
  /exceeds the limit of (\d+)/i,
  /token limit: (\d+)/i,
  /"n_ctx": ?(\d+)/i,
  /n_ctx \((\d+)\)/i,
  /must have less than (\d+) tokens/i,
  /(?:context|allowed|allowed input) length \((\d+) tokens\)/i,
  /(?:token limit|configured limit|max(?:imum)? limit)(?: is| of|:)? (\d+)/i,
  /tokens? limit (\d+)/i,
  /(?:only supports up to|while limit is|cannot exceed|max size:|max input tokens:) (\d+)/i,
  /max_(?:num_tokens|seq_len|model_len|input_len(?:gth)?) \(?(\d+)/i,
  /context (?:window of|length of(?: only)?|length is only|size \() ?(\d+)/i,
];

/** Limits of the walk down a chain of causes: levels, and characters of text. */
const maxDepth = 6;
const maxChars = 20_000;

/**
 * Tells whether an error of a model means that the request is longer than the context window: by its class, the
 * provider's code, status 413, or a known message anywhere in the chain of causes. Rate limits that mention tokens do not
 * count.
 *
 * @param patterns - messages of servers that are not in the list
 */
export function isContextOverflow(error: unknown, patterns: readonly RegExp[] = []): boolean {
  if (ContextOverflowError.is(error)) return true;
  // A kind was set by an adapter that has read the provider's message already.
  if (ModelError.is(error) && error.kind !== "unknown") return false;
  const { text, statuses } = survey(error);
  if (patterns.some((pattern) => text.search(pattern) >= 0)) return true;
  if (statuses.has(429) || otherLimits.test(text)) return false;
  return statuses.has(413) || overflowPatterns.some((pattern) => pattern.test(text));
}

/**
 * Returns a `ContextOverflowError` for an error that {@link isContextOverflow}, with the original as its cause; otherwise
 * null.
 *
 * @param what - the refused request, for the message
 */
export function asContextOverflow(
  error: unknown,
  what: string,
  patterns?: readonly RegExp[],
): ContextOverflowError | null {
  if (ContextOverflowError.is(error)) return error;
  if (!isContextOverflow(error, patterns)) return null;
  const limitTokens = limitIn(survey(error).text);
  return new ContextOverflowError(
    `${what} is longer than the model's context window${limitTokens === undefined ? "" : ` of ${limitTokens} tokens`}`,
    { cause: error, limitTokens },
  );
}

function limitIn(text: string): number | undefined {
  for (const pattern of limitPatterns) {
    const limit = Number(pattern.exec(text)?.[1]);
    if (Number.isSafeInteger(limit) && limit > 0) return limit;
  }
  return undefined;
}

/** Collects the messages of an error and its causes as one bounded text, and the HTTP statuses among them. */
function survey(error: unknown): { text: string; statuses: Set<number> } {
  const statuses = new Set<number>();
  const seen = new Set<unknown>();
  let text = "";
  const visit = (value: unknown, depth: number): void => {
    if (depth > maxDepth || text.length > maxChars || value === null || value === undefined) return;
    if (typeof value === "string") {
      text += `${value.slice(0, maxChars)}\n`;
      return;
    }
    if (typeof value !== "object" || seen.has(value)) return;
    seen.add(value);
    const fields = value as Record<string, unknown>;
    for (const key of ["statusCode", "status"])
      if (typeof fields[key] === "number") statuses.add(fields[key]);
    for (const key of ["message", "code", "type", "status", "responseBody", "body"])
      if (typeof fields[key] === "string") visit(fields[key], depth + 1);
    for (const key of ["data", "error", "cause", "lastError", "errors"])
      visit(fields[key], depth + 1);
    if (Array.isArray(value)) for (const one of value.slice(0, 10)) visit(one, depth + 1);
  };
  visit(error, 0);
  return { text, statuses };
}
