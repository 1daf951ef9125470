/**
 * A family of APIs that want their requests alike.
 *
 * - `anthropic`: Messages API, at Anthropic, on Vertex or on Bedrock; thinking must be signed
 * - `bedrock`: Converse API
 * - `openai-responses`: Responses API, at OpenAI, Azure or xAI; reasoning is encrypted
 * - `google`: Gemini; signatures stand on any part
 * - `mistral`: Chat with tool-call ids of its own form
 * - `other`: everything else, which speaks Chat Completions for the most part
 */
export type Dialect = "anthropic" | "bedrock" | "openai-responses" | "google" | "mistral" | "other";

/** The dialect of a provider, by the name its AI SDK package gives it, such as `anthropic.messages`. */
export function dialectOf(provider: string): Dialect {
  if (/anthropic/i.test(provider) || provider.endsWith(".messages")) return "anthropic";
  if (/bedrock/i.test(provider)) return "bedrock";
  // Named after another API than the one they speak.
  if (/^ollama\b|^vertex\.(maas|xai)\b/i.test(provider)) return "other";
  if (provider.endsWith(".responses")) return "openai-responses";
  if (/generative-ai|vertex|^google\b/i.test(provider)) return "google";
  return /^mistral\b/i.test(provider) ? "mistral" : "other";
}

/** Whether the result of a tool may hold files; elsewhere they would be sent as JSON text, base64 and all. */
export function takesFilesInResults(dialect: Dialect): boolean {
  return dialect !== "other" && dialect !== "mistral";
}
