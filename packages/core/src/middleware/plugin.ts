import type { StandardSchemaV1 } from "@standard-schema/spec";
import { ConfigurationError } from "../errors/errors.js";
import type { AgentEvent, EventBody } from "../events/agent-event.js";
import type { JsonValue } from "../json/json.js";
import type {
  AgentStateStore,
  Compactor,
  ConversationLog,
  Filesystem,
  KeyValueStore,
  Model,
  Offloader,
  SessionGate,
  SignalBus,
  TokenCounter,
  ToolGuard,
} from "../ports/index.js";
import type { Slot } from "../slot/slot.js";
import type { AgentState } from "../state/agent-state.js";
import type { Tool } from "../tool/tool.js";
import type { ToolGroup } from "../tool/tool-group.js";
import type { Middleware } from "./middleware.js";

/** The ports plugins meet in, by name. */
export interface Ports {
  readonly stateStore: AgentStateStore;
  readonly log: ConversationLog;
  readonly keyValue: KeyValueStore;
  readonly gate: SessionGate;
  readonly signals: SignalBus;
  readonly filesystem: Filesystem;
  readonly offloader: Offloader;
  readonly model: Model;
  readonly tokenCounter: TokenCounter;
  readonly compactor: Compactor;
  readonly toolGuard: ToolGuard;
}

/** Name of a port. */
export type PortName = keyof Ports;

/** What `host.state` is told about a plugin's state. */
export interface PluginStateOptions<T extends JsonValue> {
  /** Checks what is stored, after migration. */
  readonly schema: StandardSchemaV1<unknown, T>;
  readonly initial: () => T;
  /** @default 1 */
  readonly version?: number | undefined;
  /** Turns the value of an older version into the present one. */
  migrate?(value: JsonValue, version: number): JsonValue;
}

/** A plugin's own part of a session's state. */
export interface PluginState<T extends JsonValue> {
  get(state: AgentState): T;
  set(state: AgentState, value: T): void;
}

/** What a plugin may do while an agent is being built. No I/O here. */
export interface PluginHost {
  /** The agent's name and id. */
  readonly agent: { readonly name: string; readonly agentId: string };
  use(middleware: Middleware): void;
  tool(tool: Tool): void;
  /**
   * Tools that come and go while the agent runs. Asked at every step, so it must answer at once; give the same objects in the
   * same order as long as nothing changed, for prompt caches. A name that is taken already is passed over.
   */
  toolSource(source: () => readonly Tool[]): void;
  /** Declares a group; its tools name it in their `group`. */
  toolGroup(group: Omit<ToolGroup, "tools">): void;
  /**
   * Adds to the system prompt right behind its base, in front of what `onSystemPrompt` hooks add: gets the prompt so far
   * and returns it with the section. For what changes seldom; prompt caches keep what comes first.
   */
  promptSection(append: NonNullable<Middleware["onSystemPrompt"]>): void;
  /** Offers an implementation of a port. Several tool guards may be provided; of the others one. */
  provide<P extends PortName>(port: P, implementation: Ports[P]): void;
  /**
   * A port that somebody must provide, whatever the order of plugins. The object returned forwards to it; use it once
   * the agent is built. Missing at the end: a problem of `build()`.
   *
   * @param advice - what to do about it, for the message
   */
  require<P extends PortName>(port: P, advice?: string): Ports[P];
  /** The port if somebody provides it; ask once the agent is built. */
  optional<P extends PortName>(port: P): () => Ports[P] | undefined;
  /** Typed access to this plugin's part of `state.extensions`. Once per plugin. */
  state<T extends JsonValue>(options: PluginStateOptions<T>): PluginState<T>;
  /** Runs once before the first call; `agent.ready()` forces it. A failure fails the call. */
  onStart(run: () => Promise<void>): void;
  /** Runs when the agent closes, in reverse order. */
  onClose(run: () => void | Promise<void>): void;
  /** Runs when a session is deleted for good. */
  onDelete(run: (slot: Slot) => Promise<void>): void;
  /** Runs when everything of a user is deleted, long-term memory included. */
  onDeleteUser(run: (userId: string) => Promise<void>): void;
  /** Tells `onEvent` about background work. */
  emit(slot: Slot, callId: string, event: EventBody): void;
  /**
   * Shows every event of the agent, background ones included, as `onEvent` gets them. It must return at once; what it throws
   * is ignored. By the time of a `call_end` the call is saved, or failed to.
   */
  observe(listener: (event: AgentEvent) => void): void;
  /** The agent's clock. */
  now(): Date;
}

/**
 * A capability that can be added to an agent.
 *
 * @see definePlugin
 */
export interface Plugin {
  readonly name: string;
  readonly contract: 1;
  setup(host: PluginHost): void;
}

/**
 * Checks and freezes a plugin.
 *
 * @throws ConfigurationError when it was written for another contract
 * @example
 * const greeter = definePlugin({
 *   name: "greeter", contract: 1,
 *   setup(host) { host.use({ name: "greeter", onSystemPrompt: (prompt) => `${prompt}\nBe kind.` }); },
 * });
 */
export function definePlugin(plugin: Plugin): Plugin {
  const problem = pluginProblem(plugin);
  if (problem !== null) throw new ConfigurationError(problem);
  return Object.freeze({ ...plugin, setup: plugin.setup.bind(plugin) });
}

/** What is wrong with something that should be a plugin, or null. */
export function pluginProblem(plugin: Plugin): string | null {
  if (typeof plugin?.name !== "string" || plugin.name === "") return "a plugin needs a name";
  if (plugin.contract !== 1)
    return `plugin "${plugin.name}" was written for contract ${plugin.contract}; this release of @holdfast/core has contract 1`;
  if (typeof plugin.setup !== "function") return `plugin "${plugin.name}" has no setup function`;
  return null;
}
