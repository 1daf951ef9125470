import type { JsonObject } from "../json/json.js";
import type { Slot } from "../slot/slot.js";

/** Words that wait in a session's inbox until a save takes them into its context. */
export interface InboxEntry {
  /** Unique within the slot: an entry whose id is there already is not put again. */
  readonly id: string;
  /** `input` of a call, the message of an `interrupt`, or one for a running call (`steer`). */
  readonly kind: "input" | "interrupt" | "steer";
  /** Call that the entry came with, or that it is addressed to. */
  readonly callId: string;
  /** ISO 8601. */
  readonly at: string;
  /** Contents; opaque to the store. */
  readonly body: JsonObject;
}

/**
 * Keeps what was said to a session until its state holds it, so that no crash loses it.
 *
 * Contract:
 * - Once `put` resolves, the entry is as durable as the store's saves. It changes neither revision nor state.
 * - `read` returns the entries in the order in which they were put.
 * - `remove` ignores ids that are not there.
 * - An inbox holds at most {@link MAX_INBOX_ENTRIES} entries and {@link MAX_INBOX_BYTES} bytes of JSON; `put` beyond that
 *   throws `StateTooLargeError`.
 * - `AgentStateStore.delete` empties the inbox of the slot.
 */
export interface Inbox {
  /** Puts an entry behind the others. */
  put(slot: Slot, entry: InboxEntry): Promise<void>;
  /** Returns the entries of a slot, oldest first. */
  read(slot: Slot): Promise<readonly InboxEntry[]>;
  /** Removes entries by id. */
  remove(slot: Slot, ids: readonly string[]): Promise<void>;
}

/** Most entries of one inbox. */
export const MAX_INBOX_ENTRIES = 100;

/** Most bytes of one inbox, as JSON. */
export const MAX_INBOX_BYTES: number = 8 * 1_048_576;
