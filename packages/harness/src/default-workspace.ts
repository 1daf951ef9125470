import {
  ConfigurationError,
  type DistributedStore,
  type Filesystem,
  type Plugin,
} from "@holdfast/core";
import { LocalFilesystemSpec, RemoteFilesystemSpec, workspace } from "@holdfast/workspace";
import type { HarnessAgentOptions, HarnessSettings } from "./harness-options.js";

/**
 * Files of the workspace directory; or, where states go further than this host or are encrypted, values of the same
 * store: what an agent puts aside must be readable wherever its session is, and by nobody else.
 */
export function defaultFilesystem(parts: DistributedStore, directory: string): Filesystem {
  const { stateStore } = parts;
  const isLocal = stateStore.reach !== "distributed" && !stateStore.kind.startsWith("encrypted-");
  const spec = isLocal ? new LocalFilesystemSpec() : new RemoteFilesystemSpec();
  return spec.create({ workspace: directory, ...parts });
}

/** The workspace of the harness; what is wrong with its options is added to `problems`. */
export function workspacePlugin(
  options: HarnessAgentOptions,
  { skills }: HarnessSettings,
  problems: string[],
): Plugin[] {
  const { workspaceOptions, toolGroups = [] } = options;
  const activeGroups = toolGroups.filter(({ active }) => active).map(({ name }) => name);
  try {
    return [workspace({ ...workspaceOptions, skills, activeGroups })];
  } catch (error) {
    if (!ConfigurationError.is(error)) throw error;
    problems.push(...error.problems);
    return [];
  }
}
