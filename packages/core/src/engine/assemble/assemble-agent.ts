import { messageOf } from "../../errors/message-of.js";
import type { AgentEvent } from "../../events/agent-event.js";
import { checkEvent } from "../../events/check-event.js";
import { isRecord, type JsonValue } from "../../json/json.js";
import {
  type Plugin,
  type PluginHost,
  type PluginStateOptions,
  type PortName,
  type Ports,
  pluginProblem,
} from "../../middleware/plugin.js";
import { misspellingOf } from "../../plugin-kit/unknown-names.js";
import type { AgentStateStore } from "../../ports/agent-state-store.js";
import type { ConversationLog } from "../../ports/conversation-log.js";
import { storeParts } from "../../ports/distributed-store.js";
import type { KeyValueStore } from "../../ports/key-value-store.js";
import type { SessionGate } from "../../ports/session-gate.js";
import type { Slot } from "../../slot/slot.js";
import type { Tool } from "../../tool/tool.js";
import { CallFeeds } from "../feed/call-feeds.js";
import { RunMarks } from "../recovery/run-marks.js";
import { StateSeal } from "../save/state-seal.js";
import { Arrivals } from "../session/enter-session.js";
import { Lifecycle } from "../session/lifecycle.js";
import { StateCache } from "../session/state-cache.js";
import { resetEquippedTools, soundSource, ToolBox } from "../tools/tool-box.js";
import { AddedTools } from "./added-tools.js";
import {
  type AgentSettings,
  agentOptionNames,
  type ReActAgentOptions,
  readSettings,
  throwProblems,
} from "./agent-options.js";
import { type AgentParts, backgroundEvent, type OwnedHook, observer } from "./agent-parts.js";
import { askForPlugin } from "./ask-for-plugin.js";
import { chosenFeed } from "./chosen-feed.js";
import { collectHooks, type Hooks } from "./compose.js";
import { type DerivedAgent, deriveParts } from "./derive-agent.js";
import { checkPrompt } from "./hook-results.js";
import { localPartProblems } from "./local-part-problems.js";
import { orderMiddleware } from "./order-middleware.js";
import { type PartName, partProblem } from "./part-problems.js";
import { pluginState } from "./plugin-state.js";
import { PortBoard } from "./port-board.js";
import { registeringHost } from "./registering-host.js";
import { piped } from "./run-hook.js";
import { slotNaming } from "./slot-naming.js";
import { soundOptions } from "./sound-options.js";

/**
 * Turns options into an agent's parts: resolves ports, runs the plugins' `setup`, checks everything.
 *
 * @param agentOf - makes an agent of parts, for plugins that derive one
 * @throws ConfigurationError with every problem found
 */
export function assembleAgent(
  given: ReActAgentOptions,
  agentOf: (parts: AgentParts) => DerivedAgent,
): AgentParts {
  const problems: string[] = [];
  const options = soundOptions<ReActAgentOptions>(
    given,
    problems,
    agentOptionNames,
    agentParts,
  ) as ReActAgentOptions;
  // Missing, not wrong: what is wrong has been said.
  if (
    isRecord(given) &&
    given.model === undefined &&
    !misspellingOf("model", given, agentOptionNames)
  )
    problems.push(`model: ${partProblem("model", undefined)}`);
  // With wrong settings plugins are set up all the same: they may have problems of their own to report.
  const settings =
    readSettings(options, problems) ??
    (readSettings({ name: "unnamed", model: options.model }, []) as AgentSettings);
  const assembly = new Assembly(options, settings, problems, agentOf);
  for (const plugin of options.plugins ?? []) assembly.install(plugin);
  const parts = assembly.parts();
  throwProblems(problems);
  return parts;
}

const agentParts: readonly PartName[] = [
  ...(["model", "fallbackModel", "distributedStore"] as const),
  ...storeParts,
  ...(["filesystem", "offloader", "tokenCounter"] as const),
];

/** Collects what plugins and the user bring while an agent is put together. */
class Assembly {
  readonly #options: ReActAgentOptions;
  readonly #settings: AgentSettings;
  readonly #problems: string[];
  readonly #agentOf: (parts: AgentParts) => DerivedAgent;
  readonly #ports: PortBoard;
  readonly #added: AddedTools;
  readonly #toolSources: (() => readonly Tool[])[] = [];
  /** Known once all plugins are set up. */
  #hooks: Hooks | undefined;
  #parts: AgentParts | undefined;
  readonly #promptSections: AgentParts["promptSections"][number][] = [];
  readonly #prefetches: AgentParts["prefetches"][number][] = [];
  readonly #plugins = new Set<string>();
  readonly #pluginStates = new Map<string, PluginStateOptions<JsonValue>>();
  /** The program's own first. */
  readonly #listeners: ((event: AgentEvent) => unknown)[] = [];
  readonly #observe = observer(this.#listeners);
  readonly #now: () => Date;
  readonly #onBuild: {
    readonly plugin: string;
    readonly check: Parameters<PluginHost["onBuild"]>[0];
  }[] = [];
  readonly #onStart: (() => Promise<void>)[] = [];
  readonly #onClose: OwnedHook[] = [];
  readonly #onHealth: OwnedHook[] = [];
  readonly #onDelete: ((slot: Slot) => Promise<void>)[] = [];
  readonly #onDeleteUser: ((userId: string) => Promise<void>)[] = [];

  constructor(
    options: ReActAgentOptions,
    settings: AgentSettings,
    problems: string[],
    agentOf: (parts: AgentParts) => DerivedAgent,
  ) {
    this.#options = options;
    this.#agentOf = agentOf;
    this.#settings = settings;
    this.#problems = problems;
    this.#now = options.clock ?? (() => new Date());
    if (options.onEvent) this.#listeners.push(options.onEvent);
    this.#ports = new PortBoard(options, problems);
    this.#added = new AddedTools(problems);
    for (const middleware of options.middleware ?? []) this.#added.use(middleware);
    for (const tool of options.tools ?? []) this.#added.tool(tool);
    for (const group of options.toolGroups ?? []) this.#added.group(group);
  }

  install(plugin: Plugin): void {
    const problem = pluginProblem(plugin);
    if (problem !== null) {
      this.#problems.push(problem);
      return;
    }
    if (this.#plugins.has(plugin.name)) {
      this.#problems.push(`plugin "${plugin.name}" is used twice`);
      return;
    }
    this.#plugins.add(plugin.name);
    try {
      const returned: unknown = plugin.setup(this.#host(plugin.name));
      if (returned instanceof Promise) {
        returned.catch(() => undefined);
        this.#problems.push(
          `plugin "${plugin.name}": setup returned a promise; register everything before it returns, and do what takes time in host.onStart`,
        );
      }
    } catch (error) {
      this.#problems.push(`plugin "${plugin.name}": ${messageOf(error)}`);
    }
  }

  #checkExpiry(stateStore: AgentStateStore, gate: SessionGate, log: ConversationLog): void {
    const { expiry } = stateStore;
    if (!expiry) return;
    const own = stateStore.companions?.();
    if (gate !== own?.gate && gate !== stateStore.fuses?.gate)
      this.#problems.push(
        "gate: sessions of the state store expire (ttlMs), and only its own gate shows it which calls run; leave gate or ttlMs out",
      );
    if (log !== own?.log) expiry.attachLog?.(log);
  }

  /** Asks the plugins what they find wrong with the whole. */
  #checkBuilt(): void {
    const tools = [...this.#added.tools.values()];
    const mayGrow = this.#toolSources.length > 0;
    for (const { plugin, check } of this.#onBuild)
      for (const problem of foundProblems(check({ tools, mayGrow })))
        this.#problems.push(`plugin "${plugin}": ${problem}`);
  }

  #runMarks(stateStore: AgentStateStore, keyValue: KeyValueStore): RunMarks | undefined {
    if (this.#settings.recover === false) return undefined;
    if (keyValue.reach !== stateStore.reach)
      this.#problems.push(
        `recover: nodes find each other's runs in the key-value store, which must reach as far as the state store: "${keyValue.kind}" has reach ${keyValue.reach}, "${stateStore.kind}" ${stateStore.reach}`,
      );
    const marks = new RunMarks(keyValue, this.#settings.agentId);
    this.#onClose.unshift({ plugin: "recover", run: () => marks.close() });
    return marks;
  }

  #feeds(stateStore: AgentStateStore): CallFeeds | undefined {
    const feed = chosenFeed(this.#options, stateStore, this.#problems);
    if (!feed) return undefined;
    const feeds = new CallFeeds(feed);
    this.#onClose.unshift({ plugin: "eventFeed", run: () => feeds.close(this.#settings.name) });
    return feeds;
  }

  parts(): AgentParts {
    const options = this.#options;
    const settings = this.#settings;
    const { tools, groups, middleware } = this.#added;
    this.#ports.fill();
    this.#ports.checkRequired();
    const port = <P extends PortName>(name: P): Ports[P] => this.#ports.get(name) as Ports[P];
    const readBackTool = this.#ports.get("offloader")?.readBackTool;
    if (readBackTool) this.#added.tool(readBackTool);
    if (settings.resetEquippedTools) this.#added.tool(resetEquippedTools([...groups.values()]));
    this.#hooks = collectHooks(orderMiddleware(middleware, this.#problems));
    const stateStore = port("stateStore");
    const gate = port("gate");
    const log = port("log");
    this.#checkExpiry(stateStore, gate, log);
    if (options.singleNode !== true)
      this.#problems.push(
        ...localPartProblems({ stateStore, gate, log, signals: port("signals") }),
      );
    this.#checkBuilt();
    const runMarks = this.#runMarks(stateStore, port("keyValue"));
    const feeds = this.#feeds(stateStore);
    this.#parts = Object.freeze({
      settings,
      stateStore,
      gate,
      log,
      keyValue: port("keyValue"),
      signals: port("signals"),
      model: options.model,
      fallbackModel: options.fallbackModel,
      compactor: this.#ports.get("compactor"),
      seal: settings.integrity && new StateSeal(settings.integrity),
      guard: this.#ports.guard,
      tools: new ToolBox(tools, this.#toolSources),
      toolGroups: groups,
      hooks: this.#hooks,
      promptSections: this.#promptSections,
      prefetches: this.#prefetches,
      pluginStates: this.#pluginStates,
      cache: new StateCache(settings.stateCache),
      lifecycle: new Lifecycle(settings.name, this.#onStart),
      arrivals: new Arrivals(),
      runMarks,
      feeds,
      onClose: this.#onClose.reverse(),
      onHealth: this.#onHealth,
      onDelete: this.#onDelete,
      onDeleteUser: this.#onDeleteUser,
      slotOf: slotNaming(settings, options.slot),
      now: this.#now,
      observe: this.#observe,
      fused: {
        gate: stateStore.fuses?.gate !== undefined && stateStore.fuses.gate === gate,
        log: stateStore.fuses?.log !== undefined && stateStore.fuses.log === log,
      },
    } satisfies AgentParts);
    return this.#parts;
  }

  #host(plugin: string): PluginHost {
    const { name, agentId } = this.#settings;
    const emit: PluginHost["emit"] = (slot, callId, event) =>
      this.#observe(backgroundEvent(slot, callId, checkEvent(event, `plugin "${plugin}"`)));
    const host: PluginHost = {
      agent: { name, agentId },
      use: (middleware) => this.#added.use(middleware),
      tool: (tool) => this.#added.tool(tool),
      toolSource: (source) => void this.#toolSources.push(soundSource(plugin, source)),
      toolGroup: (group) => this.#added.group({ ...group, tools: [] }),
      promptSection: (run, prefetch) => {
        const section = { middleware: plugin, name: "promptSection", run } as const;
        this.#promptSections.push(piped(section, checkPrompt));
        if (prefetch) this.#prefetches.push(prefetch);
      },
      provide: (port, implementation) => this.#ports.provide(plugin, port, implementation),
      require: (port, advice) => this.#ports.require(plugin, port, advice),
      optional: (port) => () => this.#ports.get(port),
      state: (stateOptions) => {
        if (this.#pluginStates.has(plugin))
          this.#problems.push(`plugin "${plugin}" calls host.state twice`);
        this.#pluginStates.set(plugin, stateOptions as unknown as PluginStateOptions<JsonValue>);
        return pluginState(plugin, stateOptions);
      },
      onBuild: (check) => void this.#onBuild.push({ plugin, check }),
      onStart: (run) => void this.#onStart.push(run),
      onClose: (run) => void this.#onClose.push({ plugin, run }),
      onHealth: (run) => void this.#onHealth.push({ plugin, run }),
      onDelete: (run) => void this.#onDelete.push(run),
      onDeleteUser: (run) => void this.#onDeleteUser.push(run),
      deriveAgent: (derived) => {
        if (!this.#parts)
          throw new TypeError(`plugin "${plugin}" derives an agent before its own is built`);
        return this.#agentOf(deriveParts(this.#parts, derived));
      },
      askModel: async (question) => {
        if (!this.#hooks)
          throw new TypeError(`plugin "${plugin}" asks a model before the agent is built`);
        return askForPlugin({ plugin, hooks: this.#hooks, emit }, question);
      },
      emit,
      observe: (listener) => void this.#listeners.push(listener),
      now: () => this.#now(),
    };
    return registeringHost(plugin, host, () => this.#hooks !== undefined);
  }
}

/** Returns what an `onBuild` check found, or that it is not a list of texts. */
function foundProblems(found: unknown): readonly unknown[] {
  return Array.isArray(found) && found.every((problem) => typeof problem === "string")
    ? found
    : ["onBuild did not return a list of texts; return [] when nothing is wrong"];
}
