import type { JsonObject, JsonValue } from "../json/json.js";
import type { Message } from "../message/message.js";
import type { Slot } from "../slot/slot.js";
import type { ConversationLog, LogDraft } from "./conversation-log.js";
import type { DistributedStore } from "./distributed-store.js";
import type { Inbox } from "./inbox.js";
import type { SessionGate } from "./session-gate.js";

/** Scope in which stored data is visible: one process, every process of a host, or every node. */
export type Reach = "process" | "host" | "distributed";

/**
 * Name of one saved version of a state: `<seq>.<128 random bits as hex>`.
 *
 * Opaque: compare for equality only. (A plain counter runs back in a failover and then accepts a stale writer.)
 * `seq` is for reports.
 */
export type Revision = string;

/** Parts of a stored state beside its messages. */
interface StoredHead {
  readonly revision: Revision;
  readonly head: JsonObject;
  /** Records of calls, newest first, from a store that {@link AgentStateStore.keepsCallRecords}. */
  readonly callRecords?: readonly CallRecord[] | undefined;
  /** Facts given with the last save that gave any, from stores that serve them in listings: a copy of the session needs them. */
  readonly info?: SessionInfo | undefined;
}

/** State as a store returns it; the caller owns the values. */
export interface LoadedState extends StoredHead {
  readonly messages: readonly Message[];
  /**
   * Set when the store can tell that the `known` revision of the load is not among those this state goes back to: the store
   * has lost acknowledged saves since. @default the store cannot tell, or nothing was lost
   */
  readonly rolledBack?: boolean | undefined;
}

/**
 * Changes that lead from a known revision to the stored one: the answer to a load that names the known revision, so that a
 * load costs what changed, not what exists.
 *
 * The messages are read as those of a {@link StateWrite}: the first `keep` of the known ones stay, `replace` names indexes
 * below `keep`, `append` follows. Everything else is whole.
 */
export interface StateChange extends StoredHead {
  /** Revision that the changes start from: the `known` one. */
  readonly from: Revision;
  readonly keep: number;
  readonly replace: readonly (readonly [index: number, message: Message])[];
  readonly append: readonly Message[];
}

/** Answer of a store to a load: `null` for a slot without a state. */
export type LoadAnswer = LoadedState | StateChange | "unchanged" | null;

/**
 * Record of a call that its caller named, so that a repeated one goes on with its own run. Opaque to stores, but
 * for `callId`.
 */
export interface CallRecord {
  readonly callId: string;
  readonly [field: string]: JsonValue;
}

/** Record to remember beside the head, and how many of them to keep. */
export interface CallRecordWrite {
  /** Becomes the newest; an earlier record of the same `callId` may be dropped. */
  readonly record: CallRecord;
  /** Number of records to keep, the newest ones. */
  readonly keep: number;
}

/**
 * Facts about a session that listings show without loading its state.
 *
 * Fields of a newer release are kept as they are.
 */
export interface SessionInfo {
  /** A run began and has not ended: it still runs, or its process died. */
  readonly unfinished?: boolean | undefined;
  /** Tool calls wait for an answer. */
  readonly waiting?: boolean | undefined;
  readonly title?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  /** Numbers about the session, for example `messages`. */
  readonly counts?: { readonly [name: string]: number } | undefined;
}

/**
 * One save: the changes from the stored messages to the current ones, and the new head.
 *
 * Contract:
 * - The first `keep` stored messages stay; those from `keep` on are dropped, and `append` takes their place.
 * - `replace` names only indexes below `keep`.
 * - A store checks both with `applyWrite` or `checkWrite` and refuses a write that does not fit with `StateCorruptError`.
 */
export interface StateWrite {
  /** Idempotency key, unique per save: a repeated one returns the revision it produced and is not applied again. */
  readonly op: string;
  /** Revision this write is based on; `null` for a state that does not exist yet. */
  readonly expected: Revision | null;
  /**
   * Revision this save must produce: made with `nextRevision(expected)` by wrappers that bind the written data to it, or
   * that of the copied state, so that one revision is the same state in both stores. A repeated `op` still returns the
   * revision of its first run.
   * @default made by the store
   */
  readonly revision?: Revision | undefined;
  readonly head: JsonObject;
  readonly keep: number;
  readonly replace: readonly (readonly [index: number, message: Message])[];
  readonly append: readonly Message[];
  /** Fencing token: the lease under which this is written, when the store {@link AgentStateStore.fuses} the gate. */
  readonly lease?: string | undefined;
  /** Releases the lease in the same step. @default false */
  readonly release?: boolean | undefined;
  /** Records to append to the log in the same step, when the store {@link AgentStateStore.fuses} the log. */
  readonly log?: readonly LogDraft[] | undefined;
  /** Ids of inbox entries that this write takes in: removed in the same step. For stores that fuse a gate and have an inbox. */
  readonly takes?: readonly string[] | undefined;
  /** Record to keep beside the head, for stores that {@link AgentStateStore.keepsCallRecords}. */
  readonly callRecord?: CallRecordWrite | undefined;
  /** Facts for listings: replaces those of the save before. @default those of the save before */
  readonly info?: SessionInfo | undefined;
}

/** Entry of a listing of sessions. */
export interface SlotInfo {
  readonly slot: Slot;
  /**
   * Time of the last save, or of the input of a session never saved: ISO 8601, by the store's clock, exact to a second. Every save
   * moves it on, also one that changes no message.
   */
  readonly updatedAt: string;
  readonly messages?: number | undefined;
  /** Facts given with the last save; `unfinished` is also true while the inbox holds the input of a call. */
  readonly info?: SessionInfo | undefined;
}

/** Selection of sessions to list. */
export interface SlotQuery {
  /** `true` lists only sessions with a run that has not ended. @default false */
  readonly unfinished?: boolean | undefined;
  /**
   * `true` lists only sessions with tool calls that wait for an answer; together with `unfinished`, those of which both hold.
   * @default false
   */
  readonly waiting?: boolean | undefined;
  readonly agentId?: string | undefined;
  /** `null` lists the anonymous sessions, absent lists those of every user. */
  readonly userId?: string | null | undefined;
  /** @default 100 */
  readonly limit?: number | undefined;
  /** Cursor of the previous page. @default the first page */
  readonly cursor?: string | undefined;
}

/**
 * One page of a listing; `cursor` is absent on the last one. A page may be short, even empty, and still have a cursor: a
 * store bounds how many sessions it looks at for one page, however few of them the query selects. Continued to its end, a listing shows every session that was
 * there all the time, also those saved meanwhile; such a session may come twice.
 */
export interface SlotPage {
  readonly slots: readonly SlotInfo[];
  readonly cursor?: string | undefined;
}

/**
 * Expiry of the sessions of a store. A running or waiting call keeps its session, which the store sees at the gate of its own
 * `companions()`: an agent on such a store is not built with another.
 */
export interface SessionExpiry {
  /** Time without use after which a session expires. */
  readonly ttlMs: number;
  /** Names a log, other than that of `companions()`, to delete from when a session expires. @default the store cannot */
  attachLog?(log: Pick<ConversationLog, "delete">): void;
}

/**
 * Keeps one state per slot.
 *
 * Contract:
 * - `load` resolves to `null` for a slot never saved or deleted; an error is an error, never "absent". When `known` is the
 *   stored revision it may resolve to `"unchanged"`. When the stored state goes back to `known` it may resolve to the
 *   {@link StateChange} from there, which applied to the known state gives exactly what a whole load would return.
 * - `save` is atomic: a reader sees the old state or the new one, never a mix. It throws `StateConflictError` when the
 *   stored revision is not `expected`, and then nothing was written, neither log nor lease.
 * - The store remembers the last 16 `op`s of a slot and the revision each produced. A save with one of them returns that
 *   revision without writing, whatever `expected` says, even after saves of other writers. A delete forgets them.
 * - A write with `lease` is refused with `LeaseLostError` when that lease no longer holds the slot.
 * - Every command ends in bounded time with one of the classes of `StoreError`.
 * - Values given are copied; values returned belong to the caller.
 * - Ids are checked with `checkSlot` before any I/O and never bend a path, key or query.
 */
export interface AgentStateStore {
  readonly contract: 1;
  readonly kind: string;
  readonly reach: Reach;
  /** Loads the state of a slot. */
  load(slot: Slot, known?: Revision): Promise<LoadAnswer>;
  /** Applies a write and returns the revision it produced. */
  save(slot: Slot, write: StateWrite): Promise<Revision>;
  /** Deletes the state; resolves to `false` when there was none. */
  delete(slot: Slot): Promise<boolean>;
  /**
   * Lists sessions, most recently saved first, approximately. In a store that fuses a gate and has an inbox, a session that
   * was never saved is listed as unfinished, without messages, while its inbox holds the input of a call.
   *
   * A page of sessions that wait costs as much as there are of them, not as there are sessions, wherever the backend has an
   * index or the store can keep one.
   */
  list(query?: SlotQuery): Promise<SlotPage>;
  /**
   * Gate and log that this store can write to inside `save`, in one atomic step with the state: the engine then sends the
   * log records and the release of the lease along with the save instead of separately.
   */
  readonly fuses?: { readonly gate?: SessionGate; readonly log?: ConversationLog } | undefined;
  /** Inbox of the sessions. A store without one keeps the engine from answering an interrupt before the call has ended. */
  readonly inbox?: Inbox | undefined;
  /** The store keeps `StateWrite.callRecord` and returns them with the loaded state. @default false */
  readonly keepsCallRecords?: boolean | undefined;
  /** Present when sessions expire. @default they do not */
  readonly expiry?: SessionExpiry | undefined;
  /** Returns the gate, log, key-value store and signal bus on the same backend; the same objects every time. */
  companions?(): DistributedStore;
  /** Releases what the store opened itself, such as connections; not what the caller passed in. */
  close(): Promise<void>;
}
