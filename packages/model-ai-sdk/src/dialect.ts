/**
 * A family of APIs with the same rules for requests.
 *
 * - `anthropic`: Messages API, at Anthropic, on Vertex or on Bedrock; thinking must be signed
 * - `bedrock`: Converse API
 * - `openai-responses`: Responses API, at OpenAI, Azure or xAI; reasoning is encrypted
 * - `google`: Gemini; any part may have a signature
 * - `mistral`: Chat Completions with a stricter form of tool call ids
 * - `other`: everything else, mostly Chat Completions
 */
export type Dialect = "anthropic" | "bedrock" | "openai-responses" | "google" | "mistral" | "other";

/** Returns the dialect of a provider by its name in the AI SDK package, such as `anthropic.messages`. */
export function dialectOf(provider: string): Dialect {
  if (/anthropic/i.test(provider) || provider.endsWith(".messages")) return "anthropic";
  if (/bedrock/i.test(provider)) return "bedrock";
  // Their names suggest another API than the one they speak.
  if (/^ollama\b|^vertex\.(maas|xai)\b/i.test(provider)) return "other";
  if (provider.endsWith(".responses")) return "openai-responses";
  if (/generative-ai|vertex|^google\b/i.test(provider)) return "google";
  return /^mistral\b/i.test(provider) ? "mistral" : "other";
}

/** Tells whether a tool result may contain files; other packages would send them as JSON text with base64. */
export function takesFilesInResults(dialect: Dialect): boolean {
  return dialect !== "other" && dialect !== "mistral";
}
