import {
  type AgentStateStore,
  type DistributedStore,
  InMemoryAgentStateStore,
} from "@holdfast/core";
import { JsonFileAgentStateStore, JsonlConversationLog } from "@holdfast/store-json";
import type { HarnessAgentOptions } from "./harness-options.js";

const partNames = ["stateStore", "log", "keyValue", "gate", "signals"] as const;

/**
 * Everything the agent keeps outside itself: what was set, else the distributed store's, else what comes with the state
 * store. The default is JSON files.
 */
export function chooseStoreParts(
  options: HarnessAgentOptions,
  workspace: string,
  problems: string[],
): DistributedStore {
  const distributed = checkedBundle(options.distributedStore, problems);
  const { stateStore: chosen } = options;
  if (chosen && distributed && chosen !== distributed.stateStore)
    problems.push(
      `stateStore and distributedStore name two different state stores (${chosen.kind} and ${distributed.stateStore.kind}); leave one of them out`,
    );
  const stateStore = chosen ?? distributed?.stateStore ?? new JsonFileAgentStateStore();
  const bundle = distributed ?? companionsOf(stateStore, workspace);
  return {
    stateStore,
    log: options.log ?? bundle.log,
    keyValue: options.keyValue ?? bundle.keyValue,
    gate: options.gate ?? bundle.gate,
    signals: options.signals ?? bundle.signals,
  };
}

function checkedBundle(
  bundle: DistributedStore | undefined,
  problems: string[],
): DistributedStore | undefined {
  if (bundle === undefined) return undefined;
  const missing = partNames.filter((name) => typeof bundle?.[name] !== "object");
  if (missing.length === 0) return bundle;
  problems.push(
    `distributedStore: it has no ${missing.join(", ")}; pass what a store package's DistributedStore.from returns`,
  );
  return undefined;
}

function companionsOf(stateStore: AgentStateStore, workspace: string): DistributedStore {
  const companions =
    stateStore.companions?.() ?? new InMemoryAgentStateStore({ fused: false }).companions();
  // A conversation on files belongs with the other files of its user.
  if (stateStore.kind === "json")
    return { ...companions, log: new JsonlConversationLog({ root: workspace }) };
  return companions;
}
