import type {
  AgentEvent,
  AgentStateStore,
  ConflictPolicy,
  ConversationLog,
  DistributedStore,
  FilesystemSpec,
  KeyValueStore,
  Middleware,
  Model,
  Offloader,
  Persistence,
  Plugin,
  RuntimeContext,
  SessionGate,
  SignalBus,
  StateCacheOptions,
  TokenCounter,
  Tool,
  ToolGroup,
} from "@holdfast/core";
import type { Skill } from "@holdfast/workspace";
import type { HarnessAgent } from "./harness-agent.js";
import type { HarnessAgentOptions, HarnessWorkspaceOptions } from "./harness-options.js";

type Draft = { -readonly [K in keyof HarnessAgentOptions]?: HarnessAgentOptions[K] };

/**
 * Collects the options of a {@link HarnessAgent}. Nothing is checked before {@link build}.
 *
 * Setting something again replaces it; `tools`, `toolGroup`, `middleware`, `use` and `skills` add.
 */
export class HarnessAgentBuilder {
  readonly #draft: Draft = {};
  readonly #create: (options: HarnessAgentOptions) => HarnessAgent;

  /** Use `HarnessAgent.builder()`. */
  constructor(create: (options: HarnessAgentOptions) => HarnessAgent) {
    this.#create = create;
  }

  /** What the agent is called. Required. */
  name(name: string): this {
    return this.#set("name", name);
  }

  /** Namespace of the agent's sessions; agents that share sessions use the same. @default the name */
  agentId(agentId: string): this {
    return this.#set("agentId", agentId);
  }

  /** The model that reasons. Required. */
  model(model: Model): this {
    return this.#set("model", model);
  }

  /** Used when the model fails before its first token. */
  fallbackModel(model: Model): this {
    return this.#set("fallbackModel", model);
  }

  /** The system prompt's first part; plugins and middleware add to it. @default "" */
  systemPrompt(prompt: string): this {
    return this.#set("systemPrompt", prompt);
  }

  /**
   * Directory of the agent's files and of its conversation log, and what the agent gets of it. @default
   * "./.holdfast/workspace", with file tools
   */
  workspace(directory: string, options?: HarnessWorkspaceOptions): this {
    if (options !== undefined) this.#set("workspaceOptions", options);
    return this.#set("workspace", directory);
  }

  /** Where states are kept; log, gate, signals and key-value store come with it. @default JSON files */
  stateStore(store: AgentStateStore): this {
    return this.#set("stateStore", store);
  }

  /** State store, log, gate, signals and key-value store in one. */
  distributedStore(store: DistributedStore): this {
    return this.#set("distributedStore", store);
  }

  /** Where original messages are recorded. */
  log(log: ConversationLog): this {
    return this.#set("log", log);
  }

  /** What makes calls on one session wait for each other. */
  gate(gate: SessionGate): this {
    return this.#set("gate", gate);
  }

  /** How interrupts reach the process that runs a call. */
  signals(signals: SignalBus): this {
    return this.#set("signals", signals);
  }

  /** Where plugins keep small values. */
  keyValue(store: KeyValueStore): this {
    return this.#set("keyValue", store);
  }

  /** Which filesystem tools and plugins work on. */
  filesystem(spec: FilesystemSpec): this {
    return this.#set("filesystem", spec);
  }

  /** Where content goes that leaves the context. */
  offloader(offloader: Offloader): this {
    return this.#set("offloader", offloader);
  }

  /** How tokens are counted. */
  tokenCounter(counter: TokenCounter): this {
    return this.#set("tokenCounter", counter);
  }

  /** Adds tools that are always on. */
  tools(...tools: Tool[]): this {
    return this.#add("tools", tools);
  }

  /** Adds tools that are switched on and off together, per session. */
  toolGroup(
    name: string,
    tools: readonly Tool[],
    options: Pick<ToolGroup, "active" | "description"> = {},
  ): this {
    return this.#add("toolGroups", [{ ...options, name, tools }]);
  }

  /** Adds middleware; the first is outermost, and all of them run outside the plugins'. */
  middleware(...middleware: Middleware[]): this {
    return this.#add("middleware", middleware);
  }

  /** Adds plugins. Built-in ones have a fixed order; others follow in the order they were added. */
  use(...plugins: Plugin[]): this {
    return this.#add("plugins", plugins);
  }

  /** Adds instructions the agent can pick up when a task calls for them. */
  skills(...skills: Skill[]): this {
    return this.#add("skills", skills);
  }

  /** Whether the model gets `session_list`, `session_history` and `session_search`. @default true */
  sessionTools(on: boolean): this {
    return this.#set("sessionTools", on);
  }

  /** When work is saved: at the end of a call, or after every step, so that even kill -9 loses little. @default "call" */
  persistence(persistence: Persistence): this {
    return this.#set("persistence", persistence);
  }

  /** What a save does when somebody else saved in between. @default "fail" */
  conflictPolicy(policy: ConflictPolicy): this {
    return this.#set("conflictPolicy", policy);
  }

  /** Rounds of reasoning in one call. @default 10 */
  maxIterations(rounds: number): this {
    return this.#set("maxIterations", rounds);
  }

  /** Session of calls that name none. @default "default" */
  defaultSessionId(sessionId: string): this {
    return this.#set("defaultSessionId", sessionId);
  }

  /** Bounds of the cache of states. @default 1,000 sessions, 64 MB */
  stateCache(options: StateCacheOptions): this {
    return this.#set("stateCache", options);
  }

  /** Own keying of sessions, for example with a tenant in front of the user id. */
  slot(slot: (ctx: RuntimeContext) => { userId: string | null; sessionId: string }): this {
    return this.#set("slot", slot);
  }

  /** Hears every event of every call, background ones included. */
  onEvent(listener: (event: AgentEvent) => void): this {
    return this.#set("onEvent", listener);
  }

  /** Shut down on SIGTERM and SIGINT, saving running calls; taken away again by `close()`. @default false */
  signalHandlers(on: boolean): this {
    return this.#set("signalHandlers", on);
  }

  /** Only one node will ever run: a distributed state store may have a local gate, log or signals. */
  singleNode(on = true): this {
    return this.#set("singleNode", on);
  }

  /**
   * Makes the agent. Synchronous, without I/O; the builder can go on to make others.
   *
   * @throws ConfigurationError with every problem found
   */
  build(): HarnessAgent {
    // A missing name or model is one of the problems `create` reports.
    return this.#create({ ...this.#draft } as HarnessAgentOptions);
  }

  #set<K extends keyof HarnessAgentOptions>(option: K, value: HarnessAgentOptions[K]): this {
    this.#draft[option] = value;
    return this;
  }

  #add<K extends "tools" | "toolGroups" | "middleware" | "plugins" | "skills">(
    option: K,
    values: NonNullable<HarnessAgentOptions[K]>,
  ): this {
    const present: readonly unknown[] = this.#draft[option] ?? [];
    this.#draft[option] = [...present, ...values] as unknown as Draft[K];
    return this;
  }
}
