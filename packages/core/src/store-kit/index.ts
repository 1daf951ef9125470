export { InMemoryEventFeed } from "../in-memory/in-memory-event-feed.js";
export { DEFAULT_MAX_QUEUE } from "../in-memory/in-process-gate.js";
export { deepFreeze } from "../json/json.js";
export { messageProblem } from "../message/message-problem.js";
export { upgradeMessage } from "../message/upgrade-message.js";
export type {
  CallRecord,
  CallRecordWrite,
  LoadAnswer,
  LoadedState,
  SessionExpiry,
  StateChange,
  StateWrite,
} from "../ports/agent-state-store.js";
export type {
  BlobReference,
  LogDraft,
  LogFinds,
  LogHit,
  LogPosition,
  LogQuery,
  LogRange,
  LogSession,
  LogSessionPage,
  LogSessionQuery,
} from "../ports/conversation-log.js";
export { storeParts } from "../ports/distributed-store.js";
export type { FeedBatch, FeedPage, StoredBatch } from "../ports/event-feed.js";
export type { Inbox, InboxEntry } from "../ports/inbox.js";
export { MAX_INBOX_BYTES, MAX_INBOX_ENTRIES } from "../ports/inbox.js";
export type {
  KeyPage,
  KeyQuery,
  KeyValueCondition,
  VersionedValue,
} from "../ports/key-value-store.js";
export type { AcquireRequest, Lease } from "../ports/session-gate.js";
export type { ListenOptions, Signal, Subscription } from "../ports/signal-bus.js";
export { pathSegment } from "../slot/path-segment.js";
export {
  checkId,
  checkSlot,
  describeSlot,
  MAX_ID_LENGTH,
  slotKey,
  slotText,
  userTag,
} from "../slot/slot.js";
export { uuidv7 } from "../slot/uuid.js";
export type { ContextDelta } from "../state/context-editor.js";
export {
  applyWrite,
  checkWrite,
  leaseLost,
  type MessageWrite,
  refuseFusedParts,
  stateConflict,
} from "./apply-write.js";
export { listedInfo, withCallRecord } from "./beside-head.js";
export {
  type ChangeLedger,
  changesSince,
  isForked,
  MAX_REPLACED,
  messageChange,
  REMEMBERED_CHANGES,
  type SavedChange,
  withChange,
} from "./change-ledger.js";
export {
  checkKey,
  checkNamespace,
  checkValue,
  compareKeys,
  describeKey,
  MAX_KEY_LENGTH,
  MAX_VALUE_BYTES,
  namespaceText,
} from "./check-key.js";
export { checkLimit, matchInfo, matchSlot } from "./check-query.js";
export { boundedRead, boundedWrite, longestTimerMs, sleep, withDeadline } from "./deadline.js";
export { type DocumentStoreOptions, documentStore } from "./document-store.js";
export { ExpirySweep } from "./expiry-sweep.js";
export {
  FEED_PAGE_CHARS,
  type FeedHead,
  type FeedLimits,
  feedLimits,
  feedStep,
} from "./feed/feed-limits.js";
export { checkInboxUse, type InboxUse, inboxFull } from "./inbox-bounds.js";
export { Heartbeat } from "./lease/heartbeat.js";
export type {
  Claim,
  EnterAnswer,
  EnterTerms,
  LeaseBackend,
  NodeBeats,
  SeenCall,
  SeenClaim,
} from "./lease/lease-backend.js";
export { LeaseGate } from "./lease/lease-gate.js";
export { nodeTimeout } from "./lease/node-timeout.js";
export { isWhole, loadWhole } from "./load-whole.js";
export { blobRef, type ExtractedBlobs, extractBlobs, MAX_INLINE_BYTES } from "./log/blobs.js";
export {
  CallOutcomes,
  isDiscarded,
  type OutcomeSources,
  type RunOutcome,
} from "./log/call-outcomes.js";
export { DEFAULT_LOG_LIMIT, sliceLog } from "./log/log-range.js";
export { checkLogDraft, logRecordText, readLogRecord } from "./log/log-record.js";
export { runIdOf } from "./log/outcome-signs.js";
export {
  checkLogQuery,
  checkSessionQuery,
  isSearched,
  literalPattern,
  searchableText,
  snippetAround,
} from "./log/search-text.js";
export { restoreBlobs, withBlobs } from "./log/with-blobs.js";
export {
  isRolledBack,
  nextRevision,
  type OpLedger,
  REMEMBERED_OPS,
  revisionOfOp,
  revisionSeq,
  withOp,
} from "./revision.js";
export { retryWrite, type SaveRetryOptions, saveWithRetry } from "./save-with-retry.js";
export type { DocumentClient, DocumentKeys, StoredDocument } from "./state-document.js";
