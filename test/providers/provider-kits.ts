import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { Model } from "@holdfast/core";
import { fromAiSdk } from "@holdfast/model-ai-sdk";
import {
  anthropicServer,
  googleServer,
  openAiChatServer,
  openAiServer,
  type WireScript,
  type WireServer,
  type WireServerOptions,
} from "@holdfast/provider-rigs";

/** A provider: its server, and a model of its package that talks to it. */
export interface ProviderKit {
  readonly name: string;
  /** Whether thinking comes with a token that must go back. */
  readonly signs: boolean;
  start(script: WireScript, options?: WireServerOptions): Promise<WireServer>;
  model(server: WireServer): Model;
}

const apiKey = "test";

export const providerKits: readonly ProviderKit[] = [
  {
    name: "openai",
    signs: true,
    start: openAiServer,
    model: ({ url }) => fromAiSdk(createOpenAI({ apiKey, baseURL: url })("gpt-5")),
  },
  {
    name: "anthropic",
    signs: true,
    start: anthropicServer,
    model: ({ url }) =>
      fromAiSdk(createAnthropic({ apiKey, baseURL: url })("claude-sonnet-4-5"), {
        providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } } },
      }),
  },
  {
    name: "google",
    signs: true,
    start: googleServer,
    model: ({ url }) =>
      fromAiSdk(createGoogleGenerativeAI({ apiKey, baseURL: url })("gemini-3-pro-preview")),
  },
  {
    name: "openai-compatible",
    signs: false,
    start: openAiChatServer,
    model: ({ url }) =>
      fromAiSdk(createOpenAICompatible({ name: "local", apiKey, baseURL: url })("some-model")),
  },
];
