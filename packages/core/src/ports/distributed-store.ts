import type { AgentStateStore } from "./agent-state-store.js";
import type { ConversationLog } from "./conversation-log.js";
import type { KeyValueStore } from "./key-value-store.js";
import type { SessionGate } from "./session-gate.js";
import type { SignalBus } from "./signal-bus.js";

/** Everything an agent keeps outside itself, on one backend: what a builder takes to move to many machines. */
export interface DistributedStore {
  readonly stateStore: AgentStateStore;
  readonly log: ConversationLog;
  readonly keyValue: KeyValueStore;
  readonly gate: SessionGate;
  readonly signals: SignalBus;
}
