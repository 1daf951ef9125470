import { createAnthropic } from "@ai-sdk/anthropic";
import { createAnthropic as createAnthropicV2 } from "@ai-sdk/anthropic-v2";
import { createAnthropic as createAnthropicV4 } from "@ai-sdk/anthropic-v4";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createGoogleGenerativeAI as createGoogleV2 } from "@ai-sdk/google-v2";
import { createGoogle as createGoogleV4 } from "@ai-sdk/google-v4";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createOpenAICompatible as createCompatibleV2 } from "@ai-sdk/openai-compatible-v2";
import { createOpenAICompatible as createCompatibleV4 } from "@ai-sdk/openai-compatible-v4";
import { createOpenAI as createOpenAIV2 } from "@ai-sdk/openai-v2";
import { createOpenAI as createOpenAIV4 } from "@ai-sdk/openai-v4";
import type { Model } from "@holdfast/core";
import {
  anthropicServer,
  googleServer,
  openAiChatServer,
  openAiServer,
  type WireScript,
  type WireServer,
  type WireServerOptions,
} from "@holdfast/provider-rigs";
import { type AiSdkModel, type AiSdkOptions, fromAiSdk } from "../src/index.js";

type StartServer = (script: WireScript, options?: WireServerOptions) => Promise<WireServer>;

/** A provider package of one generation and the server its API is played by. */
export interface Provider {
  /** Such as "anthropic v3". */
  readonly name: string;
  readonly api: "openai" | "openai-chat" | "anthropic" | "google" | "compatible";
  readonly version: "v2" | "v3" | "v4";
  readonly start: StartServer;
  readonly create: (baseURL: string, modelId?: string) => AiSdkModel;
}

const apiKey = "test-key";
const name = "local";
const gpt = "gpt-5";
const claude = "claude-sonnet-4-5";
const gemini = "gemini-2.5-pro";

function provider(
  api: Provider["api"],
  version: Provider["version"],
  start: StartServer,
  create: Provider["create"],
): Provider {
  return { name: `${api} ${version}`, api, version, start, create };
}

/** Every provider in every generation. */
export const providers: readonly Provider[] = [
  provider("openai", "v2", openAiServer, (baseURL, id = gpt) =>
    createOpenAIV2({ baseURL, apiKey })(id),
  ),
  provider("openai", "v3", openAiServer, (baseURL, id = gpt) =>
    createOpenAI({ baseURL, apiKey })(id),
  ),
  provider("openai", "v4", openAiServer, (baseURL, id = gpt) =>
    createOpenAIV4({ baseURL, apiKey })(id),
  ),
  provider("openai-chat", "v2", openAiChatServer, (baseURL, id = gpt) =>
    createOpenAIV2({ baseURL, apiKey }).chat(id),
  ),
  provider("openai-chat", "v3", openAiChatServer, (baseURL, id = gpt) =>
    createOpenAI({ baseURL, apiKey }).chat(id),
  ),
  provider("openai-chat", "v4", openAiChatServer, (baseURL, id = gpt) =>
    createOpenAIV4({ baseURL, apiKey }).chat(id),
  ),
  provider("anthropic", "v2", anthropicServer, (baseURL, id = claude) =>
    createAnthropicV2({ baseURL, apiKey })(id),
  ),
  provider("anthropic", "v3", anthropicServer, (baseURL, id = claude) =>
    createAnthropic({ baseURL, apiKey })(id),
  ),
  provider("anthropic", "v4", anthropicServer, (baseURL, id = claude) =>
    createAnthropicV4({ baseURL, apiKey })(id),
  ),
  provider("google", "v2", googleServer, (baseURL, id = gemini) =>
    createGoogleV2({ baseURL, apiKey })(id),
  ),
  provider("google", "v3", googleServer, (baseURL, id = gemini) =>
    createGoogleGenerativeAI({ baseURL, apiKey })(id),
  ),
  provider("google", "v4", googleServer, (baseURL, id = gemini) =>
    createGoogleV4({ baseURL, apiKey })(id),
  ),
  provider("compatible", "v2", openAiChatServer, (baseURL, id = "llama") =>
    createCompatibleV2({ baseURL, name, apiKey, includeUsage: true })(id),
  ),
  provider("compatible", "v3", openAiChatServer, (baseURL, id = "llama") =>
    createOpenAICompatible({ baseURL, name, apiKey, includeUsage: true })(id),
  ),
  provider("compatible", "v4", openAiChatServer, (baseURL, id = "llama") =>
    createCompatibleV4({ baseURL, name, apiKey, includeUsage: true })(id),
  ),
];

/** One of {@link providers}. */
export function providerNamed(name: string): Provider {
  const found = providers.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no provider ${name}`);
  return found;
}

/** A provider's server, and a model that talks to it. */
export interface Running extends AsyncDisposable {
  readonly server: WireServer;
  readonly model: Model;
}

/** Starts a provider's server and points a model at it. */
export async function running(
  provider: Provider,
  script: WireScript,
  options: AiSdkOptions & { readonly windowTokens?: number } = {},
): Promise<Running> {
  const { windowTokens, ...rest } = options;
  const server = await provider.start(script, windowTokens === undefined ? {} : { windowTokens });
  return {
    server,
    model: fromAiSdk(provider.create(server.url), rest),
    [Symbol.asyncDispose]: () => server.close(),
  };
}
