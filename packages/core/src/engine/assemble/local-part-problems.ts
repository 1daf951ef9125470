import type { Reach } from "../../ports/agent-state-store.js";
import type { DistributedStore } from "../../ports/distributed-store.js";

/** Words for how far a part reaches. */
export const reachExtent: Readonly<Record<Reach, string>> = {
  process: "this process",
  host: "this host",
  distributed: "every node",
};

const danger = {
  gate: "two nodes could run one session at the same time",
  log: "a node could not read what another one recorded",
  signals: "an interrupt would not reach a call on another node",
} as const;

/** Returns the problems of a distributed state store whose gate, log or signals do not reach as far. */
export function localPartProblems(
  parts: Pick<DistributedStore, "stateStore" | keyof typeof danger>,
): string[] {
  const { stateStore } = parts;
  if (stateStore.reach !== "distributed") return [];
  return (["gate", "log", "signals"] as const)
    .filter((name) => parts[name].reach !== "distributed")
    .map((name) => {
      const { kind, reach } = parts[name];
      if (!Object.hasOwn(reachExtent, reach))
        return `${name}: "${kind}" does not say how far it reaches; give it reach: "process", "host" or "distributed"`;
      return `${name}: state store "${stateStore.kind}" serves every node but ${name} "${kind}" only ${reachExtent[reach]}, so ${danger[name]}; pass a distributed one (distributedStore brings all parts), or .singleNode(), option singleNode: true, if only one node will ever run`;
    });
}
