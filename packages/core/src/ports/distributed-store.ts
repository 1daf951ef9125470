import type { AgentStateStore } from "./agent-state-store.js";
import type { ConversationLog } from "./conversation-log.js";
import type { EventFeed } from "./event-feed.js";
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
  /** Feeds of the events of calls, for `agent.attach`; used by agents with `eventFeed: true`. @default the backend has none */
  readonly eventFeed?: EventFeed | undefined;
}

/** Names of the five parts that every {@link DistributedStore} has. */
export const storeParts: readonly Exclude<keyof DistributedStore, "eventFeed">[] = [
  "stateStore",
  "log",
  "keyValue",
  "gate",
  "signals",
];
