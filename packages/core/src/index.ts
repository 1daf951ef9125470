export {
  type OnBusy,
  RuntimeContext,
  type RuntimeContextFields,
} from "./context/runtime-context.js";
export { AgentRun } from "./engine/agent-run.js";
export type {
  ConflictPolicy,
  LimitOptions,
  ModelRetryOptions,
  Persistence,
  ReActAgentOptions,
  StateCacheOptions,
} from "./engine/assemble/agent-options.js";
export type { CallInput, Confirmation, ExternalResult } from "./engine/call-input.js";
export { AttachedRun } from "./engine/feed/attached-run.js";
export type { AttachOptions } from "./engine/feed/call-feeds.js";
export type { CompactOptions, ResumeOptions, SalvageOptions } from "./engine/method-options.js";
export { type CallContext, ReActAgent } from "./engine/react-agent.js";
export type { StateEdit } from "./engine/session/edit-state.js";
export type { ShutdownReport } from "./engine/session/ending.js";
export type { HealthReport } from "./engine/session/health.js";
export type { Interruption, InterruptOptions } from "./engine/session/interrupt-session.js";
export type { LifecycleState } from "./engine/session/lifecycle.js";
export type { HistoryPage } from "./engine/session/read-history.js";
export type { SessionName } from "./engine/session/session-arguments.js";
export { installSignalHandlers, type SignalHandlerOptions } from "./engine/signal-handlers.js";
export {
  AmbiguousInterruptError,
  CallAbortedError,
  CallIdReusedError,
  ConfigurationError,
  ContextOverflowError,
  EmptyReplyError,
  InvalidIdError,
  InvalidInputError,
  ModelError,
  type ModelErrorKind,
  PendingConfirmationError,
  SessionBusyError,
  ShuttingDownError,
  StateTooNewError,
  StructuredOutputError,
} from "./errors/errors.js";
export { type ErrorCode, type ErrorCodes, HoldfastError } from "./errors/holdfast-error.js";
export { MiddlewareError } from "./errors/middleware-error.js";
export {
  LeaseLostError,
  StateConflictError,
  StateCorruptError,
  StateTooLargeError,
  StoreError,
  type StoreErrorClass,
  StoreUnavailableError,
  UnknownOutcomeError,
} from "./errors/store-errors.js";
export type { AgentEvent, EventBody } from "./events/agent-event.js";
export type { AgentReply, PendingCall, ReplyBase, ReplyReason } from "./events/agent-reply.js";
export type { EventTypes } from "./events/event-types.js";
export {
  InMemoryAgentStateStore,
  type InMemoryStoreOptions,
} from "./in-memory/in-memory-agent-state-store.js";
export { InMemoryConversationLog } from "./in-memory/in-memory-conversation-log.js";
export { InMemoryFilesystem } from "./in-memory/in-memory-filesystem.js";
export { InMemoryKeyValueStore } from "./in-memory/in-memory-key-value-store.js";
export { InMemoryOffloader } from "./in-memory/in-memory-offloader.js";
export { InMemorySignalBus } from "./in-memory/in-memory-signal-bus.js";
export { InProcessSessionGate } from "./in-memory/in-process-gate.js";
export { keepLastCompactor } from "./in-memory/keep-last-compactor.js";
export { listGuard } from "./in-memory/list-guard.js";
export type { JsonObject, JsonValue } from "./json/json.js";
export { assistantMessage, toolResultMessage, userMessage } from "./message/create-message.js";
export type {
  Block,
  DataBlock,
  DataSource,
  HintBlock,
  Message,
  Role,
  TextBlock,
  ThinkingBlock,
  ToolCallBlock,
  ToolResultBlock,
  ToolResultState,
  Usage,
} from "./message/message.js";
export { textOf, toolCallsOf, toolResultsOf } from "./message/read-message.js";
export { repairToolPairs } from "./message/repair-tool-pairs.js";
export type {
  ActingStep,
  CallStep,
  ContextDropStep,
  Middleware,
  ModelCallStep,
  PromptStep,
  ReasoningStep,
  RunStep,
  Step,
  ToolCallStep,
} from "./middleware/middleware.js";
export {
  definePlugin,
  type Plugin,
  type PluginHost,
  type PluginState,
  type PluginStateOptions,
} from "./middleware/plugin.js";
export type {
  AgentStateStore,
  Reach,
  Revision,
  SessionInfo,
  SlotInfo,
  SlotPage,
  SlotQuery,
} from "./ports/agent-state-store.js";
export type { CompactionResult, Compactor } from "./ports/compactor.js";
export type { CallOutcome, ConversationLog, LogMark, LogRecord } from "./ports/conversation-log.js";
export type { DistributedStore } from "./ports/distributed-store.js";
export type { EventFeed } from "./ports/event-feed.js";
export type { Filesystem, FilesystemSpec } from "./ports/filesystem.js";
export type { KeyValueStore } from "./ports/key-value-store.js";
export type {
  FinishReason,
  Model,
  ModelChunk,
  ModelRequest,
  ToolChoice,
  ToolSchema,
} from "./ports/model.js";
export type { Offloader } from "./ports/offloader.js";
export type { SessionGate } from "./ports/session-gate.js";
export type { SignalBus } from "./ports/signal-bus.js";
export type { TokenCounter } from "./ports/token-counter.js";
export type { ToolDecision, ToolGuard } from "./ports/tool-guard.js";
export type { Slot } from "./slot/slot.js";
export { AgentState } from "./state/agent-state.js";
export type { ContextEditor } from "./state/context-editor.js";
export type { InterruptControl } from "./state/interrupt-control.js";
export type {
  Extensions,
  OpenCallState,
  OpenCalls,
  PermissionContext,
  PermissionMode,
  PermissionRule,
  PlanModeContext,
  RememberedRule,
  SuggestedRule,
  Task,
  TasksContext,
  ToolContext,
} from "./state/sections.js";
export { characterEstimate } from "./tokens/character-estimate.js";
export type { InferInput, ToolInputSchema } from "./tool/input-schema.js";
export {
  type ExplicitToolResult,
  type Suspended,
  suspend,
  type Tool,
  type ToolOptions,
  tool,
  toolResult,
} from "./tool/tool.js";
export type { ToolCallContext } from "./tool/tool-call-context.js";
export type { ToolGroup } from "./tool/tool-group.js";
export type { ToolPermission, ToolSubject } from "./tool/tool-permission.js";
