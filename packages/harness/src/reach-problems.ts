import type { DistributedStore, FilesystemSpec, Reach } from "@holdfast/core";
import { reachExtent } from "@holdfast/core/plugin-kit";

const rank: Readonly<Record<Reach, number>> = { process: 0, host: 1, distributed: 2 };

/** Problems of a filesystem that needs a state store with a wider reach. */
export function filesystemReachProblems(spec: FilesystemSpec, parts: DistributedStore): string[] {
  const { kind, reach } = parts.stateStore;
  if (rank[spec.needs] <= rank[reach]) return [];
  return [
    `filesystem: "${spec.kind}" needs a state store that serves ${reachExtent[spec.needs]}, but "${kind}" serves only ${reachExtent[reach]}; use a state store that reaches as far, or a local filesystem`,
  ];
}
