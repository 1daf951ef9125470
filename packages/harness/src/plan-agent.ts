import type {
  AgentStateStore,
  DistributedStore,
  Filesystem,
  FilesystemSpec,
  ReActAgentOptions,
} from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import { sessionTools } from "@holdfast/session-tools";
import { defaultFilesystem, workspacePlugin } from "./default-workspace.js";
import {
  type HarnessAgentOptions,
  type HarnessSettings,
  readHarnessSettings,
} from "./harness-options.js";
import { inFixedOrder } from "./plugin-order.js";
import { filesystemReachProblems, localPartProblems } from "./reach-problems.js";
import { chooseStoreParts } from "./store-parts.js";

/** What the harness decided: how to make the engine, and its own settings. */
export interface AgentPlan {
  readonly engine: ReActAgentOptions;
  readonly settings: HarnessSettings;
  /** The state store, when the harness made it: whoever makes one closes it. */
  readonly ownStore: AgentStateStore | undefined;
  /** The filesystem, which the harness makes in any case. */
  readonly ownFilesystem: Filesystem | undefined;
}

/** Chooses every part; what is wrong is added to `problems` and the plan goes on, so that all of it is found. */
export function planAgent(options: HarnessAgentOptions, problems: string[]): AgentPlan {
  if (options.name === undefined)
    problems.push('name: the agent needs one, for example .name("assistant")');
  const settings = readHarnessSettings(options, problems);
  const parts = chooseStoreParts(options, settings.workspace, problems);
  if (!settings.singleNode) problems.push(...localPartProblems(parts));
  const { filesystem: spec, distributedStore: _, plugins = [], ...rest } = options;
  const has = (name: string): boolean => plugins.some((plugin) => plugin?.name === name);
  const hasWorkspace = has("workspace");
  const given = makeFilesystem(spec, parts, settings.workspace, problems);
  // A workspace plugin of the program's own may bring its files itself.
  const filesystem = spec || hasWorkspace ? given : defaultFilesystem(parts, settings.workspace);
  const own = hasWorkspace || !filesystem ? [] : workspacePlugin(options, settings, problems);
  if (settings.sessionTools && !has("session-tools")) own.push(sessionTools());
  return {
    settings,
    ownFilesystem: filesystem,
    ownStore: (options.stateStore ?? options.distributedStore) ? undefined : parts.stateStore,
    engine: {
      ...rest,
      ...parts,
      name: options.name ?? "unnamed",
      plugins: inFixedOrder([...own, ...plugins]),
      ...(filesystem && { filesystem }),
    },
  };
}

function makeFilesystem(
  spec: FilesystemSpec | undefined,
  parts: DistributedStore,
  workspace: string,
  problems: string[],
): Filesystem | undefined {
  if (spec === undefined) return undefined;
  if (!isRecord(spec) || typeof spec.create !== "function") {
    problems.push("filesystem: a FilesystemSpec is needed, an object with kind, needs and create");
    return undefined;
  }
  const found = filesystemReachProblems(spec, parts);
  problems.push(...found);
  if (found.length > 0) return undefined;
  try {
    return spec.create({ workspace, keyValue: parts.keyValue, stateStore: parts.stateStore });
  } catch (error) {
    problems.push(`filesystem: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}
