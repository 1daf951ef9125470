import type {
  AgentStateStore,
  ConversationLog,
  DistributedStore,
  EventFeed,
  KeyValueStore,
  SessionGate,
  SignalBus,
} from "@holdfast/core";
import type { RedisClient } from "./connection/redis-client.js";
import {
  RedisAgentStateStore,
  type RedisAgentStateStoreOptions,
} from "./state/redis-agent-state-store.js";

/**
 * All stores of an agent on one Redis: state, log, values, gate, signals and events, for any number of machines.
 *
 * @example
 * const store = RedisDistributedStore.from(new Redis("redis://127.0.0.1:6379"));
 */
export class RedisDistributedStore implements DistributedStore {
  readonly stateStore: AgentStateStore;
  readonly log: ConversationLog;
  readonly keyValue: KeyValueStore;
  readonly gate: SessionGate;
  readonly signals: SignalBus;
  readonly eventFeed: EventFeed | undefined;

  private constructor(parts: DistributedStore) {
    const { stateStore, log, keyValue, gate, signals, eventFeed } = parts;
    this.stateStore = stateStore;
    this.log = log;
    this.keyValue = keyValue;
    this.gate = gate;
    this.signals = signals;
    this.eventFeed = eventFeed;
  }

  /**
   * Makes all stores from one client.
   *
   * @param client - belongs to the caller and is not closed
   * @throws ConfigurationError
   */
  static from(
    client: RedisClient,
    options: Omit<RedisAgentStateStoreOptions, "client"> = {},
  ): RedisDistributedStore {
    const store = new RedisAgentStateStore({ ...options, client });
    return new RedisDistributedStore(store.companions());
  }

  /** Ends the connections of all parts. */
  close(): Promise<void> {
    return this.stateStore.close();
  }
}
