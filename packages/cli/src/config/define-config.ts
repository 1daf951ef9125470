import type { AgentStateStore, DistributedStore, Model, Plugin, Tool } from "@holdfast/core";
import type { HarnessAgentBuilder } from "@holdfast/harness";

/** A model of an AI SDK provider package, such as `anthropic("…")`; any of the specification's versions. */
export interface AiSdkModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
}

/** What `holdfast.config.ts` may say. Everything is optional; options of the command are stronger. */
export interface HoldfastConfig {
  /** A model of Holdfast's or of an AI SDK provider, or its name as `provider/id`. */
  readonly model?: Model | AiSdkModel | string | undefined;
  /**
   * A store, or its URL, in which a directory counts from the config file. A store made here is closed when the command
   * ends.
   */
  readonly store?: string | DistributedStore | AgentStateStore | undefined;
  /** What the agent is called; its sessions are found under this name. @default "assistant" */
  readonly agent?: string | undefined;
  readonly systemPrompt?: string | undefined;
  /** Directory of the agent's files, counted from the config file. @default "./.holdfast/workspace" where the command runs */
  readonly workspace?: string | undefined;
  readonly tools?: readonly Tool[] | undefined;
  /** Beside compaction, eviction and memory-flush; one of the same name takes that one's place. */
  readonly plugins?: readonly Plugin[] | undefined;
  /** Everything else: gets the builder last, before the agent is built. */
  readonly configure?: ((builder: HarnessAgentBuilder) => unknown) | undefined;
}

/** A configuration, or a function that makes one, for example to connect to something first. */
export type ConfigExport = HoldfastConfig | (() => HoldfastConfig | Promise<HoldfastConfig>);

/**
 * Gives a config file its types; returns what it is given.
 *
 * @example
 * export default defineConfig({ model: anthropic("claude-sonnet-5-5"), systemPrompt: "Be brief." });
 */
export function defineConfig<const C extends ConfigExport>(config: C): C {
  return config;
}
