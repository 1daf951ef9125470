import { pathToFileURL } from "node:url";
import type { AiSdkModel } from "../config/define-config.js";
import { CommandError, exitCodes } from "../exit-code.js";
import type { Terminal } from "../terminal/terminal.js";

/** Provider whose package, key and default model are known. */
interface KnownProvider {
  readonly name: string;
  readonly package: string;
  /** Function of the package that creates a provider from `{ apiKey, baseURL }`. */
  readonly create: string;
  /** Environment variables. */
  readonly key: string;
  readonly baseUrl: string;
  /** Model that is used when only the key is set. */
  readonly model: string;
}

/** Known providers, in the order in which their keys are looked up. */
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

type ModelFactory = (modelId: string) => AiSdkModel;

/**
 * Creates a model with an AI SDK provider package: the current project's, else one installed beside this command.
 *
 * @throws CommandError with exit code 2 when package or key is missing, saying what to do
 */
export async function providerModel(
  terminal: Terminal,
  provider: string,
  modelId: string,
): Promise<AiSdkModel> {
  const known = knownProviders.find(({ name }) => name === provider);
  if (!/^[a-z0-9-]+$/u.test(provider))
    throw new CommandError(
      exitCodes.usage,
      `${JSON.stringify(provider)} is not the name of a provider`,
    );
  const packageName = known?.package ?? `@ai-sdk/${provider}`;
  const module = await importFromProject(packageName);
  if (module === null)
    throw new CommandError(
      exitCodes.usage,
      `the model ${provider}/${modelId} needs the package ${packageName}; install it: npm install ${packageName}`,
    );
  const factory = known ? knownFactory(terminal, known, module) : module[camelCase(provider)];
  if (typeof factory !== "function")
    throw new CommandError(
      exitCodes.usage,
      `${packageName} has no ${known?.create ?? camelCase(provider)}(); give the model in holdfast.config.ts instead`,
    );
  return (factory as ModelFactory)(modelId);
}

function knownFactory(
  { env }: Terminal,
  { name, create, key, baseUrl }: KnownProvider,
  module: Readonly<Record<string, unknown>>,
): unknown {
  if (!env[key])
    throw new CommandError(exitCodes.usage, `${name} needs its key in the environment: set ${key}`);
  const make = module[create];
  if (typeof make !== "function") return undefined;
  return make({ apiKey: env[key], ...(env[baseUrl] && { baseURL: env[baseUrl] }) });
}

async function importFromProject(name: string): Promise<Readonly<Record<string, unknown>> | null> {
  const { createJiti } = await import("jiti");
  const jiti = createJiti(import.meta.url);
  for (const parentURL of [pathToFileURL(`${process.cwd()}/`).href, import.meta.url]) {
    const found = jiti.esmResolve(name, { parentURL, try: true });
    if (found) return import(found);
  }
  return null;
}

function camelCase(name: string): string {
  return name.replace(/-(.)/gu, (_, letter: string) => letter.toUpperCase());
}
