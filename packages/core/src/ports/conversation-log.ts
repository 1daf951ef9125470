import type { JsonObject } from "../json/json.js";
import type { Message } from "../message/message.js";
import type { Slot } from "../slot/slot.js";
import type { Reach } from "./agent-state-store.js";

/** How a call ended, as its `call_end` mark says. A call without one crashed. */
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
  readonly signal?: AbortSignal | undefined;
}

/** A record that matched, with the text around the match. */
export interface LogHit {
  readonly slot: Slot;
  readonly record: LogRecord;
  readonly snippet: string;
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
 * - `search` is bounded and sees only the named user's sessions.
 */
export interface ConversationLog {
  readonly contract: 1;
  readonly kind: string;
  readonly reach: Reach;
  append(slot: Slot, records: readonly LogDraft[]): Promise<void>;
  read(slot: Slot, range?: LogRange): Promise<readonly LogRecord[]>;
  readBlob(slot: Slot, ref: string): Promise<string | null>;
  search(query: LogQuery): Promise<readonly LogHit[]>;
  /** Whether there was something to delete. Removes blobs too. */
  delete(slot: Slot): Promise<boolean>;
}
