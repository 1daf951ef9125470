import type { AgentStateStore } from "./agent-state-store.js";
import type { ConversationLog } from "./conversation-log.js";
import type { KeyValueStore } from "./key-value-store.js";
import type { SessionGate } from "./session-gate.js";
import type { SignalBus } from "./signal-bus.js";

/** State store, log, key-value store, gate and signal bus on one backend: everything agents on several machines share. */
export interface DistributedStore {
  readonly stateStore: AgentStateStore;
  readonly log: ConversationLog;
  readonly keyValue: KeyValueStore;
  readonly gate: SessionGate;
  readonly signals: SignalBus;
}

/** Names of the five parts of a {@link DistributedStore}. */
export const storeParts: readonly (keyof DistributedStore)[] = [
  "stateStore",
  "log",
  "keyValue",
  "gate",
  "signals",
];
