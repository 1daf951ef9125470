import type { JsonObject } from "../json/json.js";
import type { Message } from "../message/message.js";
import type { Slot } from "../slot/slot.js";
import type { Reach } from "./agent-state-store.js";

/**
 * Outcome of a call, from its `call_end` mark.
 *
 * A call without a mark still runs or crashed. For a crashed call that had saved steps, the next holder of the session
 * adds the mark: `error`, or `rolled_back`.
 */
export type CallOutcome = "committed" | "conflict" | "rolled_back" | "interrupted" | "error";

/** Note in a conversation log about something other than a message. */
export interface LogMark {
  /** `call_end` belongs to the engine; plugins use names of their own, for example `compaction`. */
  readonly name: string;
  /** Present on `call_end`. */
  readonly outcome?: CallOutcome | undefined;
  readonly details?: JsonObject | undefined;
}

/** Reference to a long string that was taken out of a record and is stored once per slot under its hash. */
export interface BlobReference {
  /** Path of the string in `message`; an empty string stands there. */
  readonly path: readonly (string | number)[];
  /** `sha256:<hex>` of the UTF-8 bytes. */
  readonly ref: string;
  readonly bytes: number;
}

/** Record as the writer makes it. */
export interface LogDraft {
  readonly v: 1;
  /** Idempotency key, unique within the slot: a record whose id is already there is not appended again. */
  readonly id: string;
  readonly callId: string;
  /** ISO 8601. */
  readonly at: string;
  readonly kind: "message" | "mark";
  readonly message?: Message | undefined;
  readonly mark?: LogMark | undefined;
}

/** Record as the log returns it. */
export interface LogRecord extends LogDraft {
  /** Position within the slot: strictly increasing, otherwise opaque; gaps are allowed. */
  readonly seq: number;
  /** Strings over 64 KB that were taken out of `message`; `withBlobs` puts them back. */
  readonly blobs?: readonly BlobReference[] | undefined;
}

/** Selection of records of a slot. */
export interface LogRange {
  /** Selects records with a smaller seq, and of those the newest. */
  readonly before?: number | undefined;
  /** Selects records with a larger seq, and of those the oldest. */
  readonly after?: number | undefined;
  /** @default 100 */
  readonly limit?: number | undefined;
}

/** Search over the records of a user. */
export interface LogQuery {
  readonly agentId: string;
  /** Owner of the sessions; `null` is only allowed together with a `sessionId`. */
  readonly userId: string | null;
  /** Limits the search to this session. @default every session of the user */
  readonly sessionId?: string | undefined;
  /** Literal text, compared case-insensitively. */
  readonly text: string;
  /** @default 10 */
  readonly limit?: number | undefined;
  /** Continues a search behind this position; see {@link LogFinds.next}. */
  readonly before?: LogPosition | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Position in the logs of a user. */
export interface LogPosition {
  readonly sessionId: string;
  readonly seq: number;
}

/** Record that matched, with the text around the match. */
export interface LogHit {
  readonly slot: Slot;
  readonly record: LogRecord;
  readonly snippet: string;
}

/** Result of a search. */
export interface LogFinds {
  /** Most recently updated session first, and within a session the newest record first. */
  readonly hits: readonly LogHit[];
  /** Position to pass as `before` for more hits; absent when the search saw everything. */
  readonly next?: LogPosition | undefined;
}

/** Selection of sessions that have a log. */
export interface LogSessionQuery {
  readonly agentId: string;
  readonly userId: string;
  /** @default 100 */
  readonly limit?: number | undefined;
  /** Cursor of the previous page. @default the first page */
  readonly cursor?: string | undefined;
}

/** Session that has a log. */
export interface LogSession {
  readonly slot: Slot;
  /** Time of the last append, ISO 8601, by the log's own clock and exact to about a minute. */
  readonly lastAt: string;
}

/** One page of sessions, most recently updated first, approximately; `cursor` is absent on the last one. */
export interface LogSessionPage {
  readonly sessions: readonly LogSession[];
  readonly cursor?: string | undefined;
}

/**
 * Keeps every original message, append-only.
 *
 * Contract:
 * - `append` is idempotent by record id and keeps the order given; once it resolves, the records are as durable as the
 *   store's saves.
 * - `read` returns records in ascending seq: with `after` the oldest beyond it, otherwise the newest (before `before`).
 * - The log keeps the messages of every call, committed or not; `call_end` marks say which.
 * - Text over 64 KB is kept once per slot as a blob; `readBlob` returns it whole.
 * - `search` and `sessions` see only the named user's sessions with the named agent.
 * - `search` is bounded in time and memory and returns `next` when it did not see everything. Each search makes progress, so
 *   that continuing from `next` ends.
 * - A search continued from a session that was deleted meanwhile begins again with the first session: a hit may come twice, and
 *   none is missed.
 */
export interface ConversationLog {
  readonly contract: 1;
  readonly kind: string;
  readonly reach: Reach;
  /** Appends records whose ids are not in the log yet. */
  append(slot: Slot, records: readonly LogDraft[]): Promise<void>;
  /** Reads records of a slot. */
  read(slot: Slot, range?: LogRange): Promise<readonly LogRecord[]>;
  /** Reads a long string by its reference; `null` when there is none. */
  readBlob(slot: Slot, ref: string): Promise<string | null>;
  /** Searches the messages of a user. */
  search(query: LogQuery): Promise<LogFinds>;
  /** Lists the sessions that have a log, including those without a state. */
  sessions(query: LogSessionQuery): Promise<LogSessionPage>;
  /** Deletes the log of a slot and its blobs; resolves to `false` when there was none. */
  delete(slot: Slot): Promise<boolean>;
}
