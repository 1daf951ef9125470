export {
  agentStateStoreCases,
  describeAgentStateStore,
} from "./agent-state-store/describe-agent-state-store.js";
export type {
  AgentStateStoreOptions,
  ExpiringStoreOptions,
} from "./agent-state-store/store-case.js";
export { type CompactorOptions, describeCompactor } from "./compactor/describe-compactor.js";
export type {
  ConformanceCase,
  ReopenableOptions,
  SubjectOptions,
} from "./conformance/conformance-case.js";
export { badIds, nastyIds } from "./conformance/nasty-ids.js";
export { scaled } from "./conformance/scaled.js";
export {
  conversationLogCases,
  describeConversationLog,
} from "./conversation-log/describe-conversation-log.js";
export type { ConversationLogOptions } from "./conversation-log/log-case.js";
export * from "./crash/eventually.js";
export * from "./crash/moved-clock.js";
export * from "./crash/spawn-script.js";
export * from "./crash/temp-directory.js";
export {
  type ConformanceSuite,
  type DistributedStoreOptions,
  describeDistributedStore,
  distributedStoreCases,
} from "./distributed-store/describe-distributed-store.js";
export type { ProcessOptions } from "./distributed-store/process-cases.js";
export {
  describeEventFeed,
  type EventFeedOptions,
  eventFeedCases,
} from "./event-feed/describe-event-feed.js";
export { describeFilesystem, type FilesystemOptions } from "./filesystem/describe-filesystem.js";
export {
  describeKeyValueStore,
  keyValueStoreCases,
} from "./key-value-store/describe-key-value-store.js";
export type { KeyValueStoreOptions } from "./key-value-store/key-value-case.js";
export { describeModel, type ModelOptions } from "./model/describe-model.js";
export * from "./model/scripted-model.js";
export type { ReplyFunction, ScriptedReply, ScriptedToolCall } from "./model/scripted-reply.js";
export { describeOffloader, type OffloaderOptions } from "./offloader/describe-offloader.js";
export { describePlugin, type PluginOptions } from "./plugin/describe-plugin.js";
export {
  type FakePluginHost,
  type FakePluginHostOptions,
  fakePluginHost,
} from "./plugin/fake-plugin-host.js";
export { type Runner, runner } from "./runner.js";
export { describeSessionGate, sessionGateCases } from "./session-gate/describe-session-gate.js";
export type { SessionGateOptions } from "./session-gate/gate-case.js";
export {
  describeSignalBus,
  type SignalBusOptions,
  signalBusCases,
} from "./signal-bus/describe-signal-bus.js";
export {
  describeTokenCounter,
  type TokenCounterOptions,
} from "./token-counter/describe-token-counter.js";
export { type ToolCallContextOptions, toolCallContext } from "./tool/tool-call-context.js";
export {
  describeToolGuard,
  type ExpectedDecision,
  type ToolGuardOptions,
} from "./tool-guard/describe-tool-guard.js";
