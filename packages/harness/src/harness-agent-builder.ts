import type {
  AgentEvent,
  AgentStateStore,
  ConflictPolicy,
  ConversationLog,
  DistributedStore,
  EventFeed,
  FilesystemSpec,
  KeyValueStore,
  LimitOptions,
  Middleware,
  Model,
  ModelRetryOptions,
  Offloader,
  Persistence,
  Plugin,
  ReActAgentOptions,
  RuntimeContext,
  SessionGate,
  SignalBus,
  SignalHandlerOptions,
  StateCacheOptions,
  TokenCounter,
  Tool,
  ToolGroup,
} from "@holdfast/core";
import type { RememberCallsOptions } from "@holdfast/core/plugin-kit";
import type { Skill } from "@holdfast/workspace";
import type { HarnessAgent } from "./harness-agent.js";
import type { HarnessAgentOptions, HarnessWorkspaceOptions } from "./harness-options.js";

type Draft = { -readonly [K in keyof HarnessAgentOptions]?: HarnessAgentOptions[K] };

/**
 * Collects the options of a {@link HarnessAgent}. Nothing is checked before {@link build}.
 *
 * It has every option of `HarnessAgent.create`. Setting one again replaces it; `tools`, `toolGroup`, `middleware`, `use`,
 * `skills` and `overflowPatterns` add.
 */
export class HarnessAgentBuilder {
  readonly #draft: Draft = {};
  readonly #create: (options: HarnessAgentOptions) => HarnessAgent;

  /** Use `HarnessAgent.builder()`. */
  constructor(create: (options: HarnessAgentOptions) => HarnessAgent) {
    this.#create = create;
  }

  /** Name of the agent. Required. */
  name(name: string): this {
    return this.#set("name", name);
  }

  /** Namespace of the agent's sessions; agents with the same id share sessions. @default the name */
  agentId(agentId: string): this {
    return this.#set("agentId", agentId);
  }

  /** The model that the agent reasons with. Required. */
  model(model: Model): this {
    return this.#set("model", model);
  }

  /** Model used when the main one fails before its first token. */
  fallbackModel(model: Model): this {
    return this.#set("fallbackModel", model);
  }

  /** The system prompt's first part; plugins and middleware add to it. @default "" */
  systemPrompt(prompt: string): this {
    return this.#set("systemPrompt", prompt);
  }

  /**
   * Directory of the agent's files and of its conversation log, and options of the workspace plugin. @default
   * "./.holdfast/workspace", with file tools
   */
  workspace(directory: string, options?: HarnessWorkspaceOptions): this {
    if (options !== undefined) this.#set("workspaceOptions", options);
    return this.#set("workspace", directory);
  }

  /** State store; log, gate, signals and key-value store come with it. @default JSON files */
  stateStore(store: AgentStateStore): this {
    return this.#set("stateStore", store);
  }

  /** State store, log, gate, signals and key-value store in one. */
  distributedStore(store: DistributedStore): this {
    return this.#set("distributedStore", store);
  }

  /** Conversation log, which records original messages. */
  log(log: ConversationLog): this {
    return this.#set("log", log);
  }

  /** Session gate, which makes calls on one session wait for each other. */
  gate(gate: SessionGate): this {
    return this.#set("gate", gate);
  }

  /** Signal bus, which carries interrupts to the process that runs a call. */
  signals(signals: SignalBus): this {
    return this.#set("signals", signals);
  }

  /** Key-value store for the small values of plugins. */
  keyValue(store: KeyValueStore): this {
    return this.#set("keyValue", store);
  }

  /** Filesystem for tools and plugins. */
  filesystem(spec: FilesystemSpec): this {
    return this.#set("filesystem", spec);
  }

  /** Offloader, which stores content that leaves the context. */
  offloader(offloader: Offloader): this {
    return this.#set("offloader", offloader);
  }

  /** Token counter for plugins. @default an estimate by characters */
  tokenCounter(counter: TokenCounter): this {
    return this.#set("tokenCounter", counter);
  }

  /** Adds tools that are always on. */
  tools(...tools: Tool[]): this {
    return this.#add("tools", tools);
  }

  /** Adds a group of tools that are switched on and off together, per session. */
  toolGroup(
    name: string,
    tools: readonly Tool[],
    options: Pick<ToolGroup, "active" | "description"> = {},
  ): this {
    return this.#add("toolGroups", [{ ...options, name, tools }]);
  }

  /** Offers the model `reset_equipped_tools`, with which it switches groups itself. @default false */
  resetEquippedTools(on = true): this {
    return this.#set("resetEquippedTools", on);
  }

  /** Adds middleware; the first is outermost, and all of them run outside the plugins'. */
  middleware(...middleware: Middleware[]): this {
    return this.#add("middleware", middleware);
  }

  /** Adds plugins. Built-in ones have a fixed order; others follow in the order they were added. */
  use(...plugins: Plugin[]): this {
    return this.#add("plugins", plugins);
  }

  /** Adds instructions the agent loads when a task calls for them. */
  skills(...skills: Skill[]): this {
    return this.#add("skills", skills);
  }

  /** Gives the model `session_list`, `session_history` and `session_search`. @default true */
  sessionTools(on: boolean): this {
    return this.#set("sessionTools", on);
  }

  /** Saves at the end of each call, or after every step, so that even kill -9 loses little. @default "call" */
  persistence(persistence: Persistence): this {
    return this.#set("persistence", persistence);
  }

  /** Policy for a save when another process has saved in the meantime. @default "fail" */
  conflictPolicy(policy: ConflictPolicy): this {
    return this.#set("conflictPolicy", policy);
  }

  /** Reports a store that has lost acknowledged saves, or also refuses calls on such a session. @default "report" */
  onStoreRolledBack(reaction: "report" | "refuse"): this {
    return this.#set("onStoreRolledBack", reaction);
  }

  /** Rounds of reasoning in one call. @default 10 */
  maxIterations(rounds: number): this {
    return this.#set("maxIterations", rounds);
  }

  /** Calls that may wait for one session. @default 100 */
  maxQueue(calls: number): this {
    return this.#set("maxQueue", calls);
  }

  /** Time limit of a tool call. @default 300_000 */
  toolTimeoutMs(timeoutMs: number): this {
    return this.#set("toolTimeoutMs", timeoutMs);
  }

  /** Time for which a save repeats itself when the store does not answer. @default 30_000 */
  saveDeadlineMs(deadlineMs: number): this {
    return this.#set("saveDeadlineMs", deadlineMs);
  }

  /** Retries of failing model calls. @default 3 attempts, the first pause 500 ms, none over 30 s */
  modelRetry(options: ModelRetryOptions): this {
    return this.#set("modelRetry", options);
  }

  /** Further words with which a model says that a request is longer than its window. Adds to earlier ones. */
  overflowPatterns(...patterns: RegExp[]): this {
    return this.#add("overflowPatterns", patterns);
  }

  /** Bounds on what one session may hold. @default 1 MiB per message, 256 KiB besides them, 8 MiB in all */
  limits(options: LimitOptions): this {
    return this.#set("limits", options);
  }

  /** Session of calls that do not name one. @default "default" */
  defaultSessionId(sessionId: string): this {
    return this.#set("defaultSessionId", sessionId);
  }

  /** Refuses calls that name no session; with `"user"` also those without a userId. @default false */
  requireSession(required: boolean | "user" = true): this {
    return this.#set("requireSession", required);
  }

  /**
   * Notices when permissions or plan mode of a stored session were changed past the agent. `key` has at least 32 bytes, the
   * same on every node. @default not noticed
   */
  integrity(options: NonNullable<ReActAgentOptions["integrity"]>): this {
    return this.#set("integrity", options);
  }

  /** Limits of the state cache. @default 1,000 sessions, 64 MB */
  stateCache(options: StateCacheOptions): this {
    return this.#set("stateCache", options);
  }

  /** Named calls that a session remembers, so that a repeated one goes on with its own run. @default 100, 7 days */
  rememberCalls(options: RememberCallsOptions): this {
    return this.#set("rememberCalls", options);
  }

  /**
   * Continues runs whose process died on another node that has this too, as `resume` would, without a caller.
   * @default false; with options: 3 attempts, 4 runs at once
   */
  recover(options: NonNullable<ReActAgentOptions["recover"]> = true): this {
    return this.#set("recover", options);
  }

  /**
   * Keeps the events of calls for a while, so that `attach` reads them in any process: in the store, or in a feed of its own.
   * @default false
   */
  eventFeed(feed: boolean | EventFeed = true): this {
    return this.#set("eventFeed", feed);
  }

  /** Maps a call to its user and session, for example to put a tenant in front of the user id. */
  slot(slot: (ctx: RuntimeContext) => { userId: string | null; sessionId: string }): this {
    return this.#set("slot", slot);
  }

  /** Time for `createdAt` and log records. @default the system's */
  clock(clock: () => Date): this {
    return this.#set("clock", clock);
  }

  /** Listener for every event of every call, background work included. */
  onEvent(listener: (event: AgentEvent) => void): this {
    return this.#set("onEvent", listener);
  }

  /**
   * Shuts down on SIGTERM and SIGINT, saving running calls; `close()` removes the handlers. Options choose the signals and
   * the time that calls get: `signalHandlers({ timeoutMs: 10_000 })`. @default false
   */
  signalHandlers(on: boolean | SignalHandlerOptions): this {
    return this.#set("signalHandlers", on);
  }

  /** States that only one node will ever run, so a distributed state store may have a local gate, log or signals. */
  singleNode(on = true): this {
    return this.#set("singleNode", on);
  }

  /**
   * Makes the agent. Synchronous, without I/O; the builder can be used again.
   *
   * @throws ConfigurationError with every problem found
   */
  build(): HarnessAgent {
    // A missing name or model is among the problems `create` reports.
    return this.#create({ ...this.#draft } as HarnessAgentOptions);
  }

  #set<K extends keyof HarnessAgentOptions>(option: K, value: HarnessAgentOptions[K]): this {
    this.#draft[option] = value;
    return this;
  }

  #add<K extends "tools" | "toolGroups" | "middleware" | "plugins" | "skills" | "overflowPatterns">(
    option: K,
    values: NonNullable<HarnessAgentOptions[K]>,
  ): this {
    const present: readonly unknown[] = this.#draft[option] ?? [];
    this.#draft[option] = [...present, ...values] as unknown as Draft[K];
    return this;
  }
}
