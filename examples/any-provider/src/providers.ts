import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import type { Model } from "@holdfast/core";
import { fromAiSdk } from "@holdfast/model-ai-sdk";
import {
  anthropicServer,
  googleServer,
  openAiServer,
  type WireServer,
} from "@holdfast/provider-rigs";
import { answer } from "./answer.js";

/** A model, and where it is. */
export interface Provider extends AsyncDisposable {
  readonly model: Model;
  /** True when it is the provider's own, rather than a local server that speaks its language. */
  readonly isReal: boolean;
}

/** A key, and what to do with it. */
interface Choice {
  readonly key: string;
  readonly start: typeof openAiServer;
  model(key: string, server: WireServer | null): Model;
}

const address = (server: WireServer | null) => (server === null ? {} : { baseURL: server.url });

const choices: readonly Choice[] = [
  {
    key: "OPENAI_API_KEY",
    start: openAiServer,
    model: (apiKey, server) =>
      fromAiSdk(createOpenAI({ apiKey, ...address(server) })("gpt-5.6"), {
        contextWindow: 400_000,
      }),
  },
  {
    key: "ANTHROPIC_API_KEY",
    start: anthropicServer,
    model: (apiKey, server) =>
      fromAiSdk(createAnthropic({ apiKey, ...address(server) })("claude-sonnet-5-5"), {
        contextWindow: 200_000,
      }),
  },
  {
    key: "GOOGLE_GENERATIVE_AI_API_KEY",
    start: googleServer,
    model: (apiKey, server) =>
      fromAiSdk(createGoogleGenerativeAI({ apiKey, ...address(server) })("gemini-flash-latest"), {
        contextWindow: 1_000_000,
      }),
  },
];

/** Three providers: each with its key from the environment, or else a server of this process that speaks like it. */
export function openProviders(): Promise<Provider[]> {
  return Promise.all(
    choices.map(async ({ key, start, model }) => {
      const secret = process.env[key];
      const server = secret ? null : await start(answer);
      return {
        model: model(secret ?? "no key needed", server),
        isReal: server === null,
        [Symbol.asyncDispose]: async () => server?.close(),
      };
    }),
  );
}
