import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { DerivedAgent, DerivedAgentOptions } from "../engine/assemble/derive-agent.js";
import { ConfigurationError } from "../errors/errors.js";
import type { AgentEvent, EventBody } from "../events/agent-event.js";
import type { JsonValue } from "../json/json.js";
import type { ModelAnswer } from "../plugin-kit/ask-model.js";
import { contractProblem } from "../plugin-kit/contract-problem.js";
import { showValue, strayItem } from "../plugin-kit/show-value.js";
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
import type { Middleware, PromptStep } from "./middleware.js";
import type { PluginQuestion } from "./plugin-question.js";

/** Ports that plugins can provide and require, by name. */
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

/** Options of `host.state`. */
export interface PluginStateOptions<T extends JsonValue> {
  /** Schema of the stored value, checked after migration. */
  readonly schema: StandardSchemaV1<unknown, T>;
  /** Returns the value of a session that has none yet. */
  readonly initial: () => T;
  /** Version of the value's form. @default 1 */
  readonly version?: number | undefined;
  /**
   * A fork of the session begins with a copy of the value. `false` for what is about the session itself, such as its
   * background tasks. @default true
   */
  readonly forks?: boolean | undefined;
  /** Turns a value of an older version into the current one. */
  migrate?(value: JsonValue, version: number): JsonValue;
}

/** Typed access to a plugin's own part of a session's state. */
export interface PluginState<T extends JsonValue> {
  get(state: AgentState): T;
  set(state: AgentState, value: T): void;
}

/** Registers the parts of a plugin while an agent is being built. `setup` must not do I/O. */
export interface PluginHost {
  /** Name and id of the agent. */
  readonly agent: { readonly name: string; readonly agentId: string };
  /** Adds a middleware. */
  use(middleware: Middleware): void;
  /** Adds a tool. */
  tool(tool: Tool): void;
  /**
   * Adds tools that come and go while the agent runs. `source` is called at every step and must return at once; return the
   * same objects in the same order as long as nothing changed, for prompt caches. A tool whose name is taken is left out.
   */
  toolSource(source: () => readonly Tool[]): void;
  /** Declares a group; its tools name it in their `group`. */
  toolGroup(group: Omit<ToolGroup, "tools">): void;
  /**
   * Adds a section to the system prompt, before the additions of `onSystemPrompt` hooks: `append` gets the prompt so far and
   * returns it with the section. For text that seldom changes, since prompt caches keep the beginning.
   *
   * @param prefetch - fetches what the section needs, so that `append` does not wait for a store at every step. Runs beside
   *   the request for the session's lease, which costs no time of its own, and again if the call had to wait for another one.
   *   It has ended before the call's first `append`; what it rejects with fails the call then.
   */
  promptSection(
    append: NonNullable<Middleware["onSystemPrompt"]>,
    prefetch?: (step: Pick<PromptStep, "slot" | "ctx">) => Promise<void>,
  ): void;
  /**
   * Provides an implementation of a port. Only `toolGuard` may be provided more than once. What the program itself passed for
   * a port is used instead. A `model` cannot be provided: an agent is always built with one.
   */
  provide<P extends Exclude<PortName, "model">>(port: P, implementation: Ports[P]): void;
  /**
   * Requires a port from any other plugin, in any order. The object returned forwards to it; use it once the agent is
   * built. A port that nothing provides is a problem of `build()`.
   *
   * @param advice - remedy for the error message
   */
  require<P extends PortName>(port: P, advice?: string): Ports[P];
  /** Returns a function that returns the port if anything provides it; call it once the agent is built. */
  optional<P extends PortName>(port: P): () => Ports[P] | undefined;
  /** Declares this plugin's part of `state.extensions`. Once per plugin. */
  state<T extends JsonValue>(options: PluginStateOptions<T>): PluginState<T>;
  /**
   * Checks the agent at the end of `build()`, when all plugins are set up: `check` gets every tool that is known then, and
   * returns what is wrong, in words; the agent is not built then. `mayGrow` when tools come and go (`toolSource`).
   */
  onBuild(
    check: (agent: {
      readonly tools: readonly Tool[];
      readonly mayGrow: boolean;
    }) => readonly string[],
  ): void;
  /** Runs once before the first call; `agent.ready()` forces it. A failure fails the call. */
  onStart(run: () => Promise<void>): void;
  /** Runs when the agent closes, in reverse order, and is not waited for longer than a shutdown may take. */
  onClose(run: () => void | Promise<void>): void;
  /**
   * Adds a check to `agent.health()`: throw, or reject, when the plugin is not well. The message of a `HoldfastError` is part
   * of the report, of another error only its code or name.
   */
  onHealth(run: () => void | Promise<void>): void;
  /** Runs when a session is deleted for good. */
  onDelete(run: (slot: Slot) => Promise<void>): void;
  /** Runs when everything of a user is deleted, long-term memory included. */
  onDeleteUser(run: (userId: string) => Promise<void>): void;
  /**
   * Asks a model for a text, inside the `onModelCall` hooks of the agent: they see the request with its purpose and may change
   * or refuse it. Emits `model_call_start` and `model_call_end`; repeats the request once after a retryable error. Use it once
   * the agent is built.
   *
   * @throws what a hook throws to refuse the request, what the model throws, and the signal's reason once it aborts
   */
  askModel(question: PluginQuestion): Promise<ModelAnswer>;
  /**
   * Returns an agent that works for this one, with its stores, hooks, guards and tools, and sessions of its own. It lives and
   * ends with this agent. Use it once the agent is built, with contexts of `delegatedContext`: then its tool calls are judged
   * by the permissions and the plan mode of the session that it works for.
   */
  deriveAgent(options: DerivedAgentOptions): DerivedAgent;
  /**
   * Emits an event of background work to `onEvent`: one of core's, or one that a package has added to `EventTypes`.
   *
   * @throws InvalidInputError for an event that has no type, that JSON cannot hold, or of more than 1 MiB
   */
  emit(slot: Slot, callId: string, event: EventBody): void;
  /** Never called; lets hosts of two copies of core fit each other when each knows events that the other does not. */
  emit(slot: Slot, callId: string, event: never): void;
  /**
   * Subscribes to every event of the agent, including background ones, as `onEvent` gets them. The listener must return at
   * once; its errors are ignored. At `call_end` the call has been saved, or its save has failed.
   */
  observe(listener: (event: AgentEvent) => void): void;
  /** Never called; lets hosts of two copies of core fit each other when each knows events that the other does not. */
  observe(listener: never): void;
  /** Returns the time of the agent's clock. */
  now(): Date;
}

/**
 * Capability that can be added to an agent.
 *
 * @see definePlugin
 */
export interface Plugin {
  readonly name: string;
  readonly contract: 1;
  /** Registers the plugin's parts; called once per agent. */
  setup(host: PluginHost): void;
}

/**
 * Checks and freezes a plugin.
 *
 * @throws ConfigurationError when it has no contract or was written for another
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

/** Returns the problem of a value that should be a plugin, or null. */
export function pluginProblem(plugin: Plugin): string | null {
  const stray = strayItem(plugin);
  if (stray !== null) return `a plugin is an object made with definePlugin({ … }): ${stray}`;
  if (typeof plugin !== "object" || plugin === null)
    return `a plugin is an object made with definePlugin({ … }), got ${showValue(plugin)}`;
  if (!("setup" in plugin) && Object.keys(plugin).some((key) => /^on[A-Z]/.test(key)))
    return `plugin ${showValue((plugin as Middleware).name)} is a middleware; pass it to middleware`;
  if (typeof plugin?.name !== "string" || plugin.name === "") return "a plugin needs a name";
  const contract = contractProblem(plugin.contract);
  if (contract !== null) return `plugin "${plugin.name}" ${contract}`;
  if (typeof plugin.setup !== "function") return `plugin "${plugin.name}" has no setup function`;
  return null;
}
