import { ConfigurationError, type Model } from "@holdfast/core";
import type { AiSdkModel } from "../config/define-config.js";
import type { LoadedConfig } from "../config/load-config.js";
import { CommandError, exitCodes } from "../exit-code.js";
import type { Terminal } from "../terminal/terminal.js";
import { knownProviders, providerModel } from "./provider-model.js";

/** Model and the origin of the choice. */
export interface ChosenModel {
  readonly model: Model;
  /** `--model`, the config file's path, or an environment variable. */
  readonly source: string;
  /** It is the offline model of `@holdfast/demo`. */
  readonly isOffline: boolean;
}

/** Name of the offline model on the command line. */
const OFFLINE = "offline";

/**
 * Chooses the model of `--model`, else of the config file, else of the environment (`HOLDFAST_MODEL`, or the first provider
 * whose key is set), else the offline one.
 *
 * @throws CommandError with exit code 2
 */
export async function chooseModel(
  terminal: Terminal,
  named: string | undefined,
  loaded: LoadedConfig | null,
): Promise<ChosenModel> {
  const { env } = terminal;
  if (named !== undefined) return byName(terminal, named, "--model");
  const configured = loaded?.config.model;
  if (typeof configured === "string") return byName(terminal, configured, loaded?.file ?? "");
  if (configured !== undefined) {
    const file = loaded?.file ?? "the config file";
    return { model: await asModel(configured, file), source: file, isOffline: false };
  }
  if (env["HOLDFAST_MODEL"]) return byName(terminal, env["HOLDFAST_MODEL"], "HOLDFAST_MODEL");
  const provider = knownProviders.find(({ key }) => env[key]);
  if (provider !== undefined)
    return byName(terminal, `${provider.name}/${provider.model}`, provider.key);
  return byName(terminal, OFFLINE, "no model was named and no key is set");
}

async function byName(terminal: Terminal, name: string, source: string): Promise<ChosenModel> {
  if (name === OFFLINE) {
    const { offlineModel } = await import("@holdfast/demo/offline-model");
    return { model: offlineModel(), source, isOffline: true };
  }
  const slash = name.indexOf("/");
  if (slash < 1 || slash === name.length - 1)
    throw new CommandError(
      exitCodes.usage,
      `${source}: a model is named as provider/id, for example anthropic/claude-sonnet-5-5, or "${OFFLINE}"; got ${JSON.stringify(name)}`,
    );
  const found = await providerModel(terminal, name.slice(0, slash), name.slice(slash + 1));
  return { model: await asModel(found, source), source, isOffline: false };
}

async function asModel(given: Model | AiSdkModel, source: string): Promise<Model> {
  if (!("specificationVersion" in given)) {
    if (typeof given.stream === "function" && typeof given.id === "string") return given;
    throw new CommandError(
      exitCodes.usage,
      `${source} cannot be used: its model must have an id and a stream function, or be an AI SDK model`,
    );
  }
  const { fromAiSdk } = await import("@holdfast/model-ai-sdk");
  try {
    return fromAiSdk(given as Parameters<typeof fromAiSdk>[0]);
  } catch (error) {
    if (!ConfigurationError.is(error)) throw error;
    throw new CommandError(exitCodes.usage, `the model cannot be used: ${error.message}`, {
      cause: error,
    });
  }
}
