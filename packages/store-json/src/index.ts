export * from "./feed/file-event-feed.js";
export * from "./gate/file-session-gate.js";
export type { Durability } from "./io/disk.js";
export * from "./json-file-agent-state-store.js";
export * from "./key-value/file-key-value-store.js";
export * from "./log/jsonl-conversation-log.js";
export type { FileOptions } from "./options.js";
export type { ReportSink, StoreReport, StoreReportKind } from "./report.js";
export * from "./signals/file-signal-bus.js";
