/** A provider whose package, key and usual model are known. */
export interface KnownProvider {
  readonly name: string;
  readonly package: string;
  /** The package's function that makes a provider from `{ apiKey, baseURL }`. */
  readonly create: string;
  /** Environment variables. */
  readonly key: string;
  readonly baseUrl: string;
  /** Used when only the key is there. */
  readonly model: string;
}

/** In the order in which their keys are looked for. */
export const knownProviders: readonly KnownProvider[] = [
  {
    name: "anthropic",
    package: "@ai-sdk/anthropic",
    create: "createAnthropic",
    key: "ANTHROPIC_API_KEY",
    baseUrl: "ANTHROPIC_BASE_URL",
    model: "claude-sonnet-5-5",
  },
  {
    name: "openai",
    package: "@ai-sdk/openai",
    create: "createOpenAI",
    key: "OPENAI_API_KEY",
    baseUrl: "OPENAI_BASE_URL",
    model: "gpt-5.6",
  },
  {
    name: "google",
    package: "@ai-sdk/google",
    create: "createGoogleGenerativeAI",
    key: "GOOGLE_GENERATIVE_AI_API_KEY",
    baseUrl: "GOOGLE_GENERATIVE_AI_BASE_URL",
    model: "gemini-flash-latest",
  },
];
