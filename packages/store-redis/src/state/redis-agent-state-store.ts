import type {
  AgentStateStore,
  DistributedStore,
  Revision,
  Slot,
  SlotPage,
  SlotQuery,
} from "@holdfast/core";
import {
  checkSlot,
  describeSlot,
  type Inbox,
  type LoadAnswer,
  type SessionExpiry,
  type StateWrite,
} from "@holdfast/core/store-kit";
import { connect, type RedisConnection, type RedisReply } from "../connection/redis-connection.js";
import { isTextOrNull, textIn, tuple } from "../connection/reply-shape.js";
import { defineScript } from "../connection/script.js";
import { RedisEventFeed } from "../feed/redis-event-feed.js";
import { RedisSessionGate } from "../gate/redis-session-gate.js";
import { RedisInbox } from "../inbox/redis-inbox.js";
import { RedisKeyValueStore } from "../key-value/redis-key-value-store.js";
import { loadKeys, partKey } from "../keys.js";
import { SlotIndex } from "../listing/slot-index.js";
import { RedisConversationLog } from "../log/redis-conversation-log.js";
import {
  type RedisLeaseOptions,
  type RedisStoreOptions,
  type ResolvedOptions,
  readOptions,
} from "../options.js";
import { RedisSignalBus } from "../signals/redis-signal-bus.js";
import { saveArgs } from "./save-args.js";
import { savedRevision } from "./save-script.js";
import { SaveSender } from "./save-sender.js";
import { loadScript, readStoredState, slotField } from "./stored-state.js";

/**
 * Deletes a state in any condition, and all that is kept beside it. KEYS: state, messages, inbox, call-records. Returns what
 * came of it, and the wait that has ended with it, if any.
 */
const deleteScript = defineScript(
  "delete",
  true,
  `local wait = redis.pcall('HGET', KEYS[1], 'wait')
   redis.call('UNLINK', KEYS[3], KEYS[4])
   local found = redis.call('UNLINK', KEYS[1], KEYS[2])
   return {found == 0 and 'absent' or 'deleted', type(wait) == 'string' and wait}`,
  tuple(textIn("deleted", "absent"), isTextOrNull),
);

/** Options of {@link RedisAgentStateStore}. */
export interface RedisAgentStateStoreOptions extends RedisStoreOptions, RedisLeaseOptions {}

interface Companions extends DistributedStore {
  readonly keyValue: RedisKeyValueStore;
  readonly signals: RedisSignalBus;
}

/**
 * Stores agent states in Redis, for any number of nodes: a list of messages, a hash for the rest, and beside them lists of
 * call records and of the inbox.
 *
 * Contract, beyond {@link AgentStateStore}'s:
 * - A save is one script that carries what changed and the log records of the call, takes entries out of the inbox, and
 *   releases the lease. The gate of `companions()` puts the caller's input into the inbox and loads state and inbox in the
 *   step that grants the lease: a turn takes two round trips, and one more when the input is larger than 64 KB as JSON, or
 *   when it is the session's first, which is indexed before it begins.
 * - The number of messages is stored with them: a missing message is a `StateCorruptError`, never a shorter history.
 * - Acknowledged means applied by the master; a failover may lose it unless `minReplicas` says otherwise.
 * - A delete that is repeated because its answer was lost may return false.
 * - Constructing does no I/O. `close` ends the connections made here, including those of the companions; leases still held
 *   expire.
 *
 * @example
 * const store = new RedisAgentStateStore({ client: new Redis() });
 */
export class RedisAgentStateStore implements AgentStateStore {
  readonly contract = 1;
  readonly kind = "redis";
  readonly reach = "distributed";
  readonly keepsCallRecords = true;
  readonly inbox: Inbox;
  readonly fuses: { readonly gate: RedisSessionGate; readonly log: RedisConversationLog };
  /** Present with `ttlMs`. */
  readonly expiry: SessionExpiry | undefined;
  readonly #options: ResolvedOptions;
  readonly #connection: RedisConnection;
  readonly #index: SlotIndex;
  readonly #sender: SaveSender;
  readonly #companions: Companions;
  #closed: Promise<void> | undefined;

  /** @throws ConfigurationError */
  constructor(options: RedisAgentStateStoreOptions) {
    const resolved = readOptions("RedisAgentStateStore", options, [
      "client",
      "keyPrefix",
      "ttlMs",
      "minReplicas",
      "leaseMs",
      "nodeTimeoutMs",
      "commandTimeoutMs",
    ]);
    const { client, keyPrefix, commandTimeoutMs, ttlMs, minReplicas, leaseMs, nodeTimeoutMs } =
      resolved;
    const connection = connect(client, resolved);
    const part = { client, keyPrefix, commandTimeoutMs };
    this.#index = new SlotIndex(connection, resolved);
    this.#sender = new SaveSender(connection, resolved);
    const { carried, heads } = this.#sender;
    const store = { ttlMs, minReplicas, index: this.#index, carried, heads };
    const leases = { leaseMs, nodeTimeoutMs };
    const gate = new RedisSessionGate({ ...part, ...leases }, { connection, store });
    const log = new RedisConversationLog({ ...part, ttlMs, minReplicas }, connection);
    this.#options = resolved;
    this.expiry = ttlMs === undefined ? undefined : { ttlMs };
    this.#connection = connection;
    this.fuses = { gate, log };
    this.inbox = new RedisInbox(connection, { keyPrefix, ...store });
    this.#companions = {
      stateStore: this,
      log,
      keyValue: new RedisKeyValueStore({ ...part, minReplicas }),
      gate,
      signals: new RedisSignalBus({ ...part, leaseMs }, { connection, gate }),
      eventFeed: new RedisEventFeed(part, connection),
    };
  }

  async load(slot: Slot, known?: Revision): Promise<LoadAnswer> {
    const owner = checkSlot(slot);
    const { keyPrefix, ttlMs } = this.#options;
    const reply = await this.#connection.run(
      `loading ${describeSlot(owner)}`,
      loadScript,
      loadKeys(keyPrefix, owner, ttlMs),
      [slotField(owner), known === undefined ? "" : `r${known}`, ttlMs ?? 0],
    );
    const loaded = readStoredState(owner, reply);
    this.#sender.heads.loaded(reply);
    if (loaded !== null) this.#index.keep(owner);
    return loaded;
  }

  async save(slot: Slot, write: StateWrite): Promise<Revision> {
    const owner = checkSlot(slot);
    const args = saveArgs(owner, write, this.#options.ttlMs);
    const { op, log = [], append, info, expected } = write;
    const staging = this.fuses.log.stage(owner, log, append, expected === null);
    const indexed = [this.#updateIndex(owner, write)];
    if (info?.waiting === true) indexed.push(this.#index.waiting.add(owner, op));
    await Promise.all([staging, ...indexed]);
    const logArgs = await staging;
    const send = async (): Promise<Revision> => {
      const reply = await this.#sender.send(owner, write, args, logArgs);
      const revision = savedRevision(owner, write, reply);
      this.#endWait(owner, reply, 2);
      return revision;
    };
    if (write.lease === undefined || write.release !== true) return send();
    return this.fuses.gate.whileReleasing(write.lease, send);
  }

  async delete(slot: Slot): Promise<boolean> {
    const owner = checkSlot(slot);
    const { keyPrefix, minReplicas } = this.#options;
    await this.#index.forget(owner);
    const parts = ["state", "messages", "inbox", "call-records"] as const;
    const keys = parts.map((part) => partKey(keyPrefix, owner, part));
    const what = `deleting ${describeSlot(owner)}`;
    const reply = await this.#connection.run(what, deleteScript, keys, [], { minReplicas });
    this.#endWait(owner, reply, 1);
    return Array.isArray(reply) && reply[0] === "deleted";
  }

  async list(query: SlotQuery = {}): Promise<SlotPage> {
    return this.#index.list(query);
  }

  /** Log, values, gate, signals and events on the same Redis. */
  companions(): DistributedStore {
    return this.#companions;
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { signals, keyValue } = this.#companions;
    await signals.close();
    await this.fuses.gate.close();
    await keyValue.close();
    await this.#connection.close();
  }

  /** Removes a session from the index of those that wait, when a reply names, at this place, the wait that has ended. */
  #endWait(slot: Slot, reply: RedisReply, at: number): void {
    const since = Array.isArray(reply) ? reply[at] : undefined;
    if (typeof since === "string") this.#index.waiting.remove(slot, since);
  }

  /** A new session is indexed before it is saved, so that none is missing; later updates of the index may be late. */
  async #updateIndex(slot: Slot, { expected }: StateWrite): Promise<void> {
    const touched = this.#index.touch(slot, Date.now(), expected === null);
    if (expected === null) await touched;
    else touched.catch(() => undefined);
  }
}
