export type { RedisClient } from "./connection/redis-client.js";
export { RedisEventFeed, type RedisEventFeedOptions } from "./feed/redis-event-feed.js";
export { RedisSessionGate, type RedisSessionGateOptions } from "./gate/redis-session-gate.js";
export {
  RedisKeyValueStore,
  type RedisKeyValueStoreOptions,
} from "./key-value/redis-key-value-store.js";
export {
  RedisConversationLog,
  type RedisConversationLogOptions,
} from "./log/redis-conversation-log.js";
export type { RedisLeaseOptions, RedisPartOptions, RedisStoreOptions } from "./options.js";
export { RedisDistributedStore } from "./redis-distributed-store.js";
export { RedisSignalBus, type RedisSignalBusOptions } from "./signals/redis-signal-bus.js";
export {
  RedisAgentStateStore,
  type RedisAgentStateStoreOptions,
} from "./state/redis-agent-state-store.js";
