export type { MysqlPool } from "./connection/mysql-pool.js";
export { MysqlEventFeed, type MysqlEventFeedOptions } from "./feed/mysql-event-feed.js";
export { MysqlSessionGate, type MysqlSessionGateOptions } from "./gate/mysql-session-gate.js";
export { MysqlKeyValueStore } from "./key-value/mysql-key-value-store.js";
export { MysqlConversationLog } from "./log/mysql-conversation-log.js";
export { migrate } from "./migrations/ensure-tables.js";
export { migrationStatements } from "./migrations/migrations.js";
export type { MigrationReport } from "./migrations/run-migrations.js";
export { MysqlDistributedStore } from "./mysql-distributed-store.js";
export type { MysqlLeaseOptions, MysqlPartOptions } from "./options.js";
export { MysqlSignalBus, type MysqlSignalBusOptions } from "./signals/mysql-signal-bus.js";
export {
  MysqlAgentStateStore,
  type MysqlCompanions,
  type MysqlStoreOptions,
} from "./state/mysql-agent-state-store.js";
