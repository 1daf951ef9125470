import type { JsonObject } from "../json/json.js";
import type { Message } from "../message/message.js";
import type { Slot } from "../slot/slot.js";
import type { ConversationLog, LogDraft } from "./conversation-log.js";
import type { DistributedStore } from "./distributed-store.js";
import type { SessionGate } from "./session-gate.js";

/** How far what is stored reaches: one process, every process of a host, or every node. */
export type Reach = "process" | "host" | "distributed";

/**
 * Names one saved version of a state: `<seq>.<128 random bits as hex>`.
 *
 * Opaque: only equality decides. (A plain counter runs back in a failover and then accepts a stale writer.)
 * `seq` serves reports only.
 */
export type Revision = string;

/** A state as a store returns it. The values are the caller's own. */
export interface LoadedState {
  readonly revision: Revision;
  readonly head: JsonObject;
  readonly messages: readonly Message[];
}

/**
 * One save: how to get from the stored messages to the present ones, and the new head.
 *
 * `replace` names only indexes below `keep`. The stored messages from `keep` on are dropped and `append` takes their place.
 */
export interface StateWrite {
  /** Unique per save. A repeated one is answered with the revision it produced and applied no second time. */
  readonly op: string;
  /** The revision this write is based on; `null` for a state that does not exist yet. */
  readonly expected: Revision | null;
  /**
   * The revision this save is to produce: made with `nextRevision(expected)`, for wrappers that bind what they write to
   * it; or that of the state of which this is a copy, so that the same revision is the same state in both stores. Absent:
   * the store makes one. A repeated `op` is answered with the revision of its first run all the same.
   */
  readonly revision?: Revision | undefined;
  readonly head: JsonObject;
  readonly keep: number;
  readonly replace: readonly (readonly [index: number, message: Message])[];
  readonly append: readonly Message[];
  /** Token of the lease under which this is written, when the store {@link AgentStateStore.fuses} the gate. */
  readonly lease?: string | undefined;
  /** Give the lease back in the same step. */
  readonly release?: boolean | undefined;
  /** Records to append to the log in the same step, when the store {@link AgentStateStore.fuses} the log. */
  readonly log?: readonly LogDraft[] | undefined;
}

/** What a listing says about a session. */
export interface SlotInfo {
  readonly slot: Slot;
  /** When it was last saved, as far as the listing knows; ISO 8601. */
  readonly updatedAt: string;
  readonly messages?: number | undefined;
}

/** Which sessions to list. */
export interface SlotQuery {
  readonly agentId?: string | undefined;
  /** `null` lists the anonymous sessions, absent lists those of every user. */
  readonly userId?: string | null | undefined;
  /** @default 100 */
  readonly limit?: number | undefined;
  /** From the previous page. */
  readonly cursor?: string | undefined;
}

/** One page of a listing; `cursor` is absent on the last one. */
export interface SlotPage {
  readonly slots: readonly SlotInfo[];
  readonly cursor?: string | undefined;
}

/**
 * Keeps one state per slot.
 *
 * Contract:
 * - `load` resolves to `null` for a slot never saved or deleted; an error is an error, never "absent". With `known` it
 *   may answer `"unchanged"` when that is the stored revision.
 * - `save` is atomic: a reader sees the old state or the new one, never a mix. It throws `StateConflictError` when the
 *   stored revision is not `expected`, and then nothing was written, neither log nor lease.
 * - The store remembers the last 16 `op`s of a slot and the revision each produced. A save with one of them returns that
 *   revision without writing, whatever `expected` says, also after other writers' saves.
 * - A write with `lease` is refused with `LeaseLostError` when the lease is no longer that one.
 * - Every command ends in bounded time with one of the classes of `StoreError`.
 * - Values given are copied, values returned are the caller's own.
 * - Ids are checked with `checkSlot` before any I/O and never bend a path, key or query.
 */
export interface AgentStateStore {
  readonly contract: 1;
  readonly kind: string;
  readonly reach: Reach;
  load(slot: Slot, known?: Revision): Promise<LoadedState | "unchanged" | null>;
  save(slot: Slot, write: StateWrite): Promise<Revision>;
  /** Whether there was something to delete. */
  delete(slot: Slot): Promise<boolean>;
  /** Newest first, approximately. */
  list(query?: SlotQuery): Promise<SlotPage>;
  /** Parts this store can serve inside `save`; the engine then sends log records and the release along. */
  readonly fuses?: { readonly gate?: SessionGate; readonly log?: ConversationLog } | undefined;
  /** The matching gate, log, key-value store and signals on the same backend; the same objects every time. */
  companions?(): DistributedStore;
  close(): Promise<void>;
}
