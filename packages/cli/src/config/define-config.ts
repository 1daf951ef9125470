import type { AcpAuth } from "@holdfast/acp";
import type { AgentStateStore, DistributedStore, Model, Plugin, Tool, Usage } from "@holdfast/core";
import type { HarnessAgentBuilder } from "@holdfast/harness";

/** Model of an AI SDK provider package, such as `anthropic("…")`, of any version of the specification. */
export interface AiSdkModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
}

/** Opens the store at a URL, given as it was typed. */
export type StoreOpener = (
  url: string,
) => DistributedStore | AgentStateStore | Promise<DistributedStore | AgentStateStore>;

/** Contents of `holdfast.config.ts`. Options of the command take precedence. */
export interface HoldfastConfig {
  /** Model of Holdfast or of an AI SDK provider, or its name as `provider/id`. */
  readonly model?: Model | AiSdkModel | string | undefined;
  /**
   * Store or its URL; a relative directory is resolved from the config file. A store created here is closed when the
   * command ends.
   */
  readonly store?: string | DistributedStore | AgentStateStore | undefined;
  /**
   * Stores of other packages, by the scheme of their URLs: `{ sqlite: (url) => openSqlite(url) }` lets every command take
   * `sqlite:sessions.db`, as `--store`, `--from` or `--to`. A store opened by one is closed when the command ends.
   */
  readonly stores?: Readonly<Record<string, StoreOpener>> | undefined;
  /** Name of the agent, under which its sessions are kept. @default "assistant" */
  readonly agent?: string | undefined;
  readonly systemPrompt?: string | undefined;
  /** Directory of the agent's files, resolved from the config file. @default "./.holdfast/workspace" where the command runs */
  readonly workspace?: string | undefined;
  readonly tools?: readonly Tool[] | undefined;
  /** Plugins besides compaction, eviction, memory-flush, permissions and subagents; one of the same name replaces the default. */
  readonly plugins?: readonly Plugin[] | undefined;
  /** Settings of `holdfast acp`: how a person signs in at the editor. @default no sign-in */
  readonly acp?: { readonly auth?: AcpAuth | undefined } | undefined;
  /** Returns the price of one request to a model; the chat shows their sum in dollars. */
  readonly price?: ((usage: Usage, modelId: string) => number) | undefined;
  /** Receives the builder last, for everything else. */
  readonly configure?: ((builder: HarnessAgentBuilder) => unknown) | undefined;
}

/** Configuration, or a function that returns one, for example after connecting to a server. */
export type ConfigExport = HoldfastConfig | (() => HoldfastConfig | Promise<HoldfastConfig>);

/**
 * Returns its argument; gives a config file its types.
 *
 * @example
 * export default defineConfig({ model: anthropic("claude-sonnet-5-5"), systemPrompt: "Be brief." });
 */
export function defineConfig<const C extends ConfigExport>(config: C): C {
  return config;
}
