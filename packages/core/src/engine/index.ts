export type {
  ConflictPolicy,
  LimitOptions,
  ModelRetryOptions,
  Persistence,
  ReActAgentOptions,
  StateCacheOptions,
} from "./agent-options.js";
export { AgentRun, MAX_UNREAD_EVENTS } from "./agent-run.js";
export type { CallInput, Confirmation, ExternalResult } from "./call-input.js";
export type { LifecycleState } from "./lifecycle.js";
export type { StateEdit } from "./maintenance.js";
export {
  type CallContext,
  type CompactOptions,
  type OutputOf,
  ReActAgent,
  type ShutdownReport,
} from "./react-agent.js";
export {
  installSignalHandlers,
  type SignalHandlerOptions,
  type Stoppable,
} from "./signal-handlers.js";
export type { SessionName } from "./slot-arguments.js";
