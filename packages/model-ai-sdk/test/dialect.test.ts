import { expect, test } from "vitest";
import { dialectOf } from "../src/dialect.js";

test.each([
  ["anthropic.messages", "anthropic"],
  ["vertex.anthropic.messages", "anthropic"],
  ["bedrock.anthropic.messages", "anthropic"],
  ["minimax.messages", "anthropic"],
  ["amazon-bedrock", "bedrock"],
  ["openai.responses", "openai-responses"],
  ["azure.responses", "openai-responses"],
  ["xai.responses", "openai-responses"],
  ["google.generative-ai", "google"],
  ["google.vertex.chat", "google"],
  ["mistral.chat", "mistral"],
  // Chat Completions on Vertex, and Ollama's own API under another's name.
  ["vertex.maas.chat", "other"],
  ["vertex.xai.chat", "other"],
  ["ollama.responses", "other"],
  ["openai.chat", "other"],
  ["azure.chat", "other"],
  ["openrouter", "other"],
  ["openrouter.chat", "other"],
  ["groq.chat", "other"],
  ["xai.chat", "other"],
  ["deepseek.chat", "other"],
  ["gateway", "other"],
])("%s speaks like %s", (provider, dialect) => {
  expect(dialectOf(provider)).toBe(dialect);
});
