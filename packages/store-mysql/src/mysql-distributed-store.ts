import type { DistributedStore } from "@holdfast/core";
import type { MysqlPool } from "./connection/mysql-pool.js";
import type { MysqlEventFeed } from "./feed/mysql-event-feed.js";
import type { MysqlSessionGate } from "./gate/mysql-session-gate.js";
import type { MysqlKeyValueStore } from "./key-value/mysql-key-value-store.js";
import type { MysqlConversationLog } from "./log/mysql-conversation-log.js";
import type { MysqlSignalBus } from "./signals/mysql-signal-bus.js";
import { MysqlAgentStateStore, type MysqlStoreOptions } from "./state/mysql-agent-state-store.js";

/** All stores of an agent in one MySQL or MariaDB database: state, log, values, gate, signals and events. */
export class MysqlDistributedStore implements DistributedStore {
  readonly stateStore: MysqlAgentStateStore;
  readonly log: MysqlConversationLog;
  readonly keyValue: MysqlKeyValueStore;
  readonly gate: MysqlSessionGate;
  readonly signals: MysqlSignalBus;
  readonly eventFeed: MysqlEventFeed;

  private constructor(stateStore: MysqlAgentStateStore) {
    const { log, keyValue, gate, signals, eventFeed } = stateStore.companions();
    this.stateStore = stateStore;
    this.log = log;
    this.keyValue = keyValue;
    this.gate = gate;
    this.signals = signals;
    this.eventFeed = eventFeed;
  }

  /**
   * Makes all stores from a pool of mysql2, which stays the caller's. No I/O happens before one of them is used.
   *
   * @throws ConfigurationError
   * @example
   * const store = MysqlDistributedStore.from(createPool("mysql://app@db/agents"));
   */
  static from(
    pool: MysqlPool,
    options: Omit<MysqlStoreOptions, "pool"> = {},
  ): MysqlDistributedStore {
    return new MysqlDistributedStore(new MysqlAgentStateStore({ ...options, pool }));
  }

  /** Ends all timers; the pool is the caller's. */
  async close(): Promise<void> {
    await this.stateStore.close();
  }
}
