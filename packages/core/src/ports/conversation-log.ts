import type { JsonObject } from "../json/json.js";
import type { Message } from "../message/message.js";
import type { Slot } from "../slot/slot.js";
import type { Reach } from "./agent-state-store.js";

/**
 * How a call ended, as its `call_end` mark says. A call without one still runs or crashed; of one that had saved steps the
 * next holder of the session says that it failed (`error`), or was taken back.
 */
export type CallOutcome = "committed" | "conflict" | "rolled_back" | "interrupted" | "error";

/** Something that happened to a conversation besides messages. */
export interface LogMark {
  /** `call_end` is the engine's; plugins write their own, for example `compaction`. */
  readonly name: string;
  /** Present on `call_end`. */
  readonly outcome?: CallOutcome | undefined;
  readonly details?: JsonObject | undefined;
}

/** A string taken out of a record because it is long; it is stored once per slot under its hash. */
export interface BlobReference {
  /** Where in `message` the string belongs; an empty string stands there. */
  readonly path: readonly (string | number)[];
  /** `sha256:<hex>` of the UTF-8 bytes. */
  readonly ref: string;
  readonly bytes: number;
}

/** A record as the writer makes it. */
export interface LogDraft {
  readonly v: 1;
  /** Unique within the slot; a repeated one is not appended again. */
  readonly id: string;
  readonly callId: string;
  /** ISO 8601. */
  readonly at: string;
  readonly kind: "message" | "mark";
  readonly message?: Message | undefined;
  readonly mark?: LogMark | undefined;
}

/** A record as the log returns it. */
export interface LogRecord extends LogDraft {
  /** Position within the slot: strictly increasing, otherwise opaque; gaps are allowed. */
  readonly seq: number;
  /** Strings over 64 KB that are not in `message`; see `withBlobs`. */
  readonly blobs?: readonly BlobReference[] | undefined;
}

/** Which records of a slot to read. */
export interface LogRange {
  /** Only records with a smaller seq; the newest of those are returned. */
  readonly before?: number | undefined;
  /** Only records with a larger seq; the oldest of those are returned. */
  readonly after?: number | undefined;
  /** @default 100 */
  readonly limit?: number | undefined;
}

/** What to look for in the records of a user. */
export interface LogQuery {
  readonly agentId: string;
  /** Whose sessions; `null` is only allowed together with a `sessionId`. */
  readonly userId: string | null;
  /** Only this session. */
  readonly sessionId?: string | undefined;
  /** Literal text, compared without regard to case. */
  readonly text: string;
  /** @default 10 */
  readonly limit?: number | undefined;
  /** Only what comes behind this place in the order of the search; see {@link LogFinds.next}. */
  readonly before?: LogPosition | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A place in the logs of a user. */
export interface LogPosition {
  readonly sessionId: string;
  readonly seq: number;
}

/** A record that matched, with the text around the match. */
export interface LogHit {
  readonly slot: Slot;
  readonly record: LogRecord;
  readonly snippet: string;
}

/** What a search found. */
export interface LogFinds {
  /** The session written to last first; in each the newest records first. */
  readonly hits: readonly LogHit[];
  /** Pass it as `before` to go on: there were enough hits, or the search came to its limits. Absent: it saw everything. */
  readonly next?: LogPosition | undefined;
}

/** Whose sessions to list. */
export interface LogSessionQuery {
  readonly agentId: string;
  readonly userId: string;
  /** @default 100 */
  readonly limit?: number | undefined;
  /** Of the page before. */
  readonly cursor?: string | undefined;
}

/** A session that has a log. */
export interface LogSession {
  readonly slot: Slot;
  /** About when the last record was appended, ISO 8601: exact to a minute or so, and by the log's own clock. */
  readonly lastAt: string;
}

/** One page of sessions, the one written to last first, approximately; `cursor` is absent on the last one. */
export interface LogSessionPage {
  readonly sessions: readonly LogSession[];
  readonly cursor?: string | undefined;
}

/**
 * The append-only record of every original message.
 *
 * Contract:
 * - `append` is idempotent by record id and keeps the order given; when it resolves the records are as durable as the
 *   store's saves.
 * - `read` returns records in ascending seq: with `after` the oldest beyond it, otherwise the newest (before `before`).
 * - It records what happened, not what was committed: `call_end` marks tell.
 * - Text over 64 KB is kept once per slot as a blob; `readBlob` returns it whole.
 * - `search` and `sessions` see only the named user's sessions with the named agent.
 * - `search` is bounded in time and memory and says with `next` when it did not see everything; it always gets on, so that
 *   going on from `next` ends.
 */
export interface ConversationLog {
  readonly contract: 1;
  readonly kind: string;
  readonly reach: Reach;
  append(slot: Slot, records: readonly LogDraft[]): Promise<void>;
  read(slot: Slot, range?: LogRange): Promise<readonly LogRecord[]>;
  readBlob(slot: Slot, ref: string): Promise<string | null>;
  search(query: LogQuery): Promise<LogFinds>;
  /** The sessions that have a log, also those without a state. */
  sessions(query: LogSessionQuery): Promise<LogSessionPage>;
  /** Whether there was something to delete. Removes blobs too. */
  delete(slot: Slot): Promise<boolean>;
}
