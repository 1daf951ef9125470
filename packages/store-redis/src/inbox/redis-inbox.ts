import { type Slot, StateCorruptError } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import {
  checkSlot,
  describeSlot,
  type Inbox,
  type InboxEntry,
  inboxFull,
} from "@holdfast/core/store-kit";
import type { RedisConnection, RedisReply } from "../connection/redis-connection.js";
import { either, isText, listOf, textIn } from "../connection/reply-shape.js";
import { defineScript } from "../connection/script.js";
import { refreshLua } from "../gate/refresh-lua.js";
import { partKey } from "../keys.js";
import type { SlotIndex } from "../listing/slot-index.js";
import { inboxLua } from "./inbox-lua.js";

/**
 * Puts an entry. KEYS: lease, state, inbox. ARGV: id, kind, JSON, ttlMs, 1 for the entry of a claim. Returns the entries, or
 * `full`.
 */
const putScript = defineScript(
  "put-entry",
  true,
  `${refreshLua}${inboxLua}
if ARGV[5] == '1' and is_gone(KEYS[2], ARGV[1]) then return read_entries(KEYS[3]) end
local found = put_entry(KEYS[3], ARGV[1], ARGV[2], ARGV[3])
refresh(tonumber(ARGV[4]), 3)
return found or 'full'
`,
  either(listOf(isText), textIn("full")),
);

/** Reads the entries. KEYS: lease, state, inbox. */
const readScript = defineScript(
  "read-entries",
  false,
  `${inboxLua}\nreturn read_entries(KEYS[3])`,
  listOf(isText),
);

/** Removes entries. KEYS: lease, state, inbox. ARGV: their ids as JSON. */
const removeScript = defineScript(
  "remove-entries",
  true,
  `${inboxLua}\nremove_entries(KEYS[3], KEYS[2], 1, #ARGV)\nreturn 'removed'`,
  textIn("removed"),
);

/** Options of {@link RedisInbox}. */
export interface RedisInboxOptions {
  readonly keyPrefix: string;
  readonly ttlMs: number | undefined;
  readonly minReplicas: number;
  readonly index: Pick<SlotIndex, "add">;
}

/** Keeps the inbox of each slot in a list beside its state. */
export class RedisInbox implements Inbox {
  readonly #connection: RedisConnection;
  readonly #options: RedisInboxOptions;

  constructor(connection: RedisConnection, options: RedisInboxOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  async put(slot: Slot, entry: InboxEntry): Promise<void> {
    const owner = checkSlot(slot);
    const put = this.#put(owner, entry, false);
    // A session may have nothing but this.
    const isIndexed = entry.kind === "input" && this.#options.index.add(owner, Date.now());
    await Promise.all([put, isIndexed]);
  }

  /** Puts the entry of a claim that was granted, and returns all entries. */
  putOfClaim(slot: Slot, entry: InboxEntry, deadlineMs: number): Promise<InboxEntry[]> {
    return this.#put(slot, entry, true, deadlineMs);
  }

  async read(slot: Slot): Promise<readonly InboxEntry[]> {
    const owner = checkSlot(slot);
    const what = `reading the inbox of ${describeSlot(owner)}`;
    const reply = await this.#connection.run(what, readScript, this.#keys(owner), []);
    return readEntries(owner, reply);
  }

  async remove(slot: Slot, ids: readonly string[]): Promise<void> {
    const owner = checkSlot(slot);
    if (ids.length === 0) return;
    const what = `removing entries from the inbox of ${describeSlot(owner)}`;
    const { minReplicas } = this.#options;
    await this.#connection.run(what, removeScript, this.#keys(owner), idArgs(ids), {
      minReplicas,
    });
  }

  async #put(
    slot: Slot,
    entry: InboxEntry,
    isClaim: boolean,
    deadlineMs?: number,
  ): Promise<InboxEntry[]> {
    const { ttlMs = 0, minReplicas } = this.#options;
    const args = entryArgs(entry);
    const reply = await this.#connection.run(
      `putting an entry into the inbox of ${describeSlot(slot)}`,
      putScript,
      this.#keys(slot),
      [...args, ttlMs, isClaim ? 1 : 0],
      { minReplicas, deadlineMs },
    );
    if (reply === "full") throw inboxFull(slot);
    return readEntries(slot, reply, args[2]);
  }

  #keys(slot: Slot): string[] {
    const { keyPrefix } = this.#options;
    return (["lease", "state", "inbox"] as const).map((part) => partKey(keyPrefix, slot, part));
  }
}

/** Returns the first arguments of `put_entry`: id, kind and JSON. */
export function entryArgs(entry: InboxEntry): [id: string, kind: string, json: string] {
  return [JSON.stringify(entry.id), entry.kind, JSON.stringify(entry)];
}

/** Returns ids of entries as scripts compare them. */
export function idArgs(ids: readonly string[]): string[] {
  return ids.map((id) => JSON.stringify(id));
}

/**
 * Reads the reply of `read_entries`.
 *
 * @param own - JSON of the entry that the caller has put, which the reply leaves out
 * @throws StateCorruptError
 */
export function readEntries(slot: Slot, reply: RedisReply | undefined, own = ""): InboxEntry[] {
  if (!Array.isArray(reply)) throw corruptInbox(slot);
  return reply.map((text) => readEntry(slot, text === "" ? own : text));
}

function readEntry(slot: Slot, text: RedisReply): InboxEntry {
  let value: unknown;
  try {
    value = JSON.parse(String(text));
  } catch {
    // The parser's own message quotes the text, and contents stay out of errors.
  }
  if (!isRecord(value) || typeof value["id"] !== "string") throw corruptInbox(slot);
  return value as unknown as InboxEntry;
}

function corruptInbox(slot: Slot): StateCorruptError {
  return new StateCorruptError(
    `the inbox of ${describeSlot(slot)} is damaged: it holds what is not an entry`,
  );
}
