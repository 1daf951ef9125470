import type { DistributedStore, FilesystemSpec, Reach } from "@holdfast/core";

const rank: Readonly<Record<Reach, number>> = { process: 0, host: 1, distributed: 2 };

const extent: Readonly<Record<Reach, string>> = {
  process: "this process",
  host: "this host",
  distributed: "every node",
};

const danger = {
  gate: "two nodes could run one session at the same time",
  log: "a node could not read what another one recorded",
  signals: "an interrupt would not reach a call on another node",
} as const;

/** Problems of a distributed state store whose gate, log or signals do not reach as far. */
export function localPartProblems(parts: DistributedStore): string[] {
  const { stateStore } = parts;
  if (stateStore.reach !== "distributed") return [];
  return (["gate", "log", "signals"] as const)
    .filter((name) => parts[name].reach !== "distributed")
    .map(
      (name) =>
        `${name}: state store "${stateStore.kind}" serves every node but ${name} "${parts[name].kind}" only ${extent[parts[name].reach]}, so ${danger[name]}; pass a distributed one (.distributedStore() brings all parts), or .singleNode() if only one node will ever run`,
    );
}

/** Problems of a filesystem that needs a state store with a wider reach. */
export function filesystemReachProblems(spec: FilesystemSpec, parts: DistributedStore): string[] {
  const { kind, reach } = parts.stateStore;
  if (rank[spec.needs] <= rank[reach]) return [];
  return [
    `filesystem: "${spec.kind}" needs a state store that serves ${extent[spec.needs]}, but "${kind}" serves only ${extent[reach]}; use a state store that reaches as far, or a local filesystem`,
  ];
}
