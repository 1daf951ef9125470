import {
  type AgentStateStore,
  ConfigurationError,
  type DistributedStore,
  type Filesystem,
  type FilesystemSpec,
  InMemoryAgentStateStore,
  type Plugin,
  type ReActAgentOptions,
  type Reach,
} from "@holdfast/core";
import {
  agentOptionNames,
  isRecord,
  type PortName,
  reachExtent,
  showValue,
  soundOptions,
} from "@holdfast/core/plugin-kit";
import { storeParts } from "@holdfast/core/store-kit";
import { sessionTools } from "@holdfast/session-tools";
import { JsonFileAgentStateStore, JsonlConversationLog } from "@holdfast/store-json";
import { LocalFilesystemSpec, RemoteFilesystemSpec, workspace } from "@holdfast/workspace";
import {
  type HarnessAgentOptions,
  type HarnessSettings,
  harnessOptionNames,
  readHarnessSettings,
} from "./harness-options.js";
import { refuseDefaultPorts } from "./refuse-default-ports.js";

/** Options of the engine with every part chosen, and the parts that the harness made and has to close. */
export interface HarnessAssembly {
  readonly engine: ReActAgentOptions;
  readonly settings: HarnessSettings;
  /** The state store, if the harness made it; undefined for one that the caller made and closes. */
  readonly ownStore: AgentStateStore | undefined;
  /** The filesystem, which is always made by the harness. */
  readonly ownFilesystem: Filesystem | undefined;
}

/**
 * The built-in plugins, outermost first.
 *
 * The order has reasons: otel's spans cover what the others do. workspace comes next because its sections of the system
 * prompt come before all others. memory-flush sits outside compaction, so that facts are saved from a context
 * before it shrinks, and eviction around everything that makes tool results, so that it sees their final form. The rest
 * mostly bring tools; a fixed place for each keeps the request's prefix the same, on which prompt caches depend.
 */
export const builtInPlugins: readonly string[] = [
  "otel",
  "workspace",
  "memory-flush",
  "compaction",
  "eviction",
  "permissions",
  "planning",
  "subagents",
  "session-tools",
  "mcp",
];

/** Chooses every part of an agent. Adds a problem to `problems` and carries on, so that one build reports all of them. */
export function assembleHarness(given: HarnessAgentOptions, problems: string[]): HarnessAssembly {
  const options = soundOptions<HarnessAgentOptions>(given, problems, harnessOptionNames, [
    "distributedStore",
    ...storeParts,
  ]) as HarnessAgentOptions;
  if (options.name === undefined)
    problems.push('name: the agent needs one, for example .name("assistant")');
  const settings = readHarnessSettings(options, problems);
  const { eventFeed, ...parts } = chooseStoreParts(options, settings.workspace, problems);
  const { filesystem: spec, distributedStore: _, plugins = [] } = options;
  const has = (name: string): boolean => plugins.some((plugin) => plugin?.name === name);
  const hasWorkspace = has("workspace");
  const made = makeFilesystem(spec, parts, settings.workspace, problems);
  // A workspace plugin of the caller's own may bring its own filesystem.
  const filesystem = spec || hasWorkspace ? made : defaultFilesystem(parts, settings.workspace);
  const own = hasWorkspace || !filesystem ? [] : workspacePlugin(options, settings, problems);
  if (settings.sessionTools && !has("session-tools")) own.push(sessionTools());
  const chosen = options.distributedStore ? storeParts : storeParts.filter((name) => options[name]);
  const defaults = new Set<PortName>(storeParts.filter((name) => !chosen.includes(name)));
  if (filesystem && !spec) defaults.add("filesystem");
  const others = plugins.map((plugin) => refuseDefaultPorts(plugin, defaults));
  return {
    settings,
    ownFilesystem: filesystem,
    ownStore: (options.stateStore ?? options.distributedStore) ? undefined : parts.stateStore,
    engine: {
      ...engineOptions(options),
      ...parts,
      eventFeed: options.eventFeed === true ? (eventFeed ?? true) : options.eventFeed,
      name: options.name === undefined ? "unnamed" : options.name,
      plugins: inFixedOrder([...own, ...others]),
      ...(filesystem && { filesystem }),
    },
  };
}

/** Returns the options that the engine knows; store and filesystem are chosen here. */
function engineOptions(options: HarnessAgentOptions): ReActAgentOptions {
  const { distributedStore: _, filesystem: __, ...rest } = options;
  return Object.fromEntries(
    Object.entries(rest).filter(([name]) => agentOptionNames.includes(name)),
  ) as unknown as ReActAgentOptions;
}

/** Each part as it was set, else the distributed store's, else the state store's companion. The default is JSON files. */
function chooseStoreParts(
  options: HarnessAgentOptions,
  directory: string,
  problems: string[],
): DistributedStore {
  const { stateStore: chosen, distributedStore: distributed } = options;
  if (chosen && distributed && chosen !== distributed.stateStore)
    problems.push(
      `stateStore and distributedStore name two different state stores (${chosen.kind} and ${distributed.stateStore.kind}); leave one of them out`,
    );
  const stateStore = chosen ?? distributed?.stateStore ?? new JsonFileAgentStateStore();
  const bundle = distributed ?? companionsOf(stateStore, directory);
  const set = { ...options, stateStore };
  const { eventFeed } = bundle;
  const parts = Object.fromEntries(storeParts.map((name) => [name, set[name] ?? bundle[name]]));
  return { ...(parts as unknown as DistributedStore), eventFeed };
}

function companionsOf(stateStore: AgentStateStore, directory: string): DistributedStore {
  const companions =
    stateStore.companions?.() ?? new InMemoryAgentStateStore({ fused: false }).companions();
  // A conversation kept in files belongs with its user's other files.
  if (stateStore.kind === "json")
    return { ...companions, log: new JsonlConversationLog({ root: directory }) };
  return companions;
}

/** Makes the caller's filesystem; undefined if there is none to make or it has a problem. */
function makeFilesystem(
  spec: FilesystemSpec | undefined,
  parts: DistributedStore,
  directory: string,
  problems: string[],
): Filesystem | undefined {
  if (spec === undefined) return undefined;
  if (!isRecord(spec) || typeof spec.create !== "function") {
    problems.push(
      "filesystem: a FilesystemSpec is needed, an object with kind, needs and create, such as new LocalFilesystemSpec() of @holdfast/workspace",
    );
    return undefined;
  }
  const found = filesystemReachProblems(spec, parts);
  problems.push(...found);
  if (found.length > 0) return undefined;
  try {
    const { keyValue, stateStore } = parts;
    return spec.create({ workspace: directory, keyValue, stateStore });
  } catch (error) {
    problems.push(`filesystem: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

const rank: Readonly<Record<Reach, number>> = { process: 0, host: 1, distributed: 2 };

/** Problems of a filesystem that needs a state store with a wider reach. */
function filesystemReachProblems(spec: FilesystemSpec, parts: DistributedStore): string[] {
  const { kind, reach } = parts.stateStore;
  if (rank[spec.needs] <= rank[reach]) return [];
  return [
    `filesystem: "${spec.kind}" needs a state store that serves ${reachExtent[spec.needs]}, but "${kind}" serves only ${reachExtent[reach]}; use a state store that reaches as far, or a local filesystem`,
  ];
}

/**
 * The workspace directory; or values of the state store's own backend, if states are distributed or encrypted: offloaded
 * content must be readable on every node that runs the session, and must not lie unencrypted beside an encrypted state.
 */
function defaultFilesystem(parts: DistributedStore, directory: string): Filesystem {
  const { stateStore } = parts;
  const isLocal = stateStore.reach !== "distributed" && !stateStore.kind.startsWith("encrypted-");
  const spec = isLocal ? new LocalFilesystemSpec() : new RemoteFilesystemSpec();
  return spec.create({ workspace: directory, ...parts });
}

/** The workspace plugin of the harness; none if its options have a problem. */
function workspacePlugin(
  { workspaceOptions, toolGroups = [] }: HarnessAgentOptions,
  { skills }: HarnessSettings,
  problems: string[],
): Plugin[] {
  if (workspaceOptions !== undefined && !isRecord(workspaceOptions)) {
    problems.push(`workspaceOptions: must be an object, got ${showValue(workspaceOptions)}`);
    return [];
  }
  const activeGroups = toolGroups.filter((group) => group?.active).map(({ name }) => name);
  try {
    return [workspace({ ...workspaceOptions, skills, activeGroups })];
  } catch (error) {
    if (!ConfigurationError.is(error)) throw error;
    problems.push(...error.problems);
    return [];
  }
}

/** Built-ins in their fixed order, then all others in the order they were added. */
function inFixedOrder(plugins: readonly Plugin[]): Plugin[] {
  const place = (plugin: Plugin): number => {
    const index = builtInPlugins.indexOf(plugin?.name);
    return index === -1 ? builtInPlugins.length : index;
  };
  return plugins.toSorted((one, other) => place(one) - place(other));
}
