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
import { RedisEventFeed } from "../feed/redis-event-feed.js";
import { RedisSessionGate } from "../gate/redis-session-gate.js";
import { CarriedEntries } from "../inbox/carried-entries.js";
import { RedisInbox } from "../inbox/redis-inbox.js";
import { RedisKeyValueStore } from "../key-value/redis-key-value-store.js";
import { loadKeys, partKey, saveKeys } from "../keys.js";
import { SlotIndex } from "../listing/slot-index.js";
import { RedisConversationLog } from "../log/redis-conversation-log.js";
import {
  type RedisLeaseOptions,
  type RedisStoreOptions,
  type ResolvedOptions,
  readOptions,
} from "../options.js";
import { RedisSignalBus } from "../signals/redis-signal-bus.js";
import { type SaveArgs, saveArgs } from "./save-args.js";
import { savedRevision, saveScript } from "./save-script.js";
import { SavedHeads } from "./saved-heads.js";
import { deleteScript, loadScript, readStoredState, slotField } from "./stored-state.js";

/** Options of {@link RedisAgentStateStore}. */
export interface RedisAgentStateStoreOptions extends RedisStoreOptions, RedisLeaseOptions {}

/** Arguments of a script. */
type ScriptArgs = readonly (string | number)[];

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
  /** Entries that leases of this process have put into inboxes. */
  readonly #carried = new CarriedEntries();
  readonly #heads = new SavedHeads();
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
    const known = { carried: this.#carried, heads: this.#heads };
    const store = { ttlMs, minReplicas, index: this.#index, ...known };
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
    this.#heads.loaded(reply);
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
      const reply = await this.#send(owner, write, args, logArgs);
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

  /**
   * Sends a save without what the server has: a head that is stored, messages of the input that came with the lease, and keys
   * that the save does not touch. A save that needs more of them after all is sent again, whole.
   *
   * @param log - arguments of `append_log`
   * @returns the reply of the save script
   */
  async #send(
    slot: Slot,
    write: StateWrite,
    args: SaveArgs,
    log: ScriptArgs,
  ): Promise<readonly RedisReply[]> {
    const { revision, head, append } = args;
    const { expected, takes = [] } = write;
    const isStored = expected !== null && this.#heads.has(expected, head);
    const places = append.map((text) => this.#carried.refer(slot, takes, text));
    // A first save also removes what a deleted session may have left.
    const areKept = expected === null || this.#options.ttlMs !== undefined;
    let reply = await this.#runSave(slot, areKept, args.sent(isStored ? "" : head, places, log));
    if (reply[0] === "more") reply = await this.#runSave(slot, true, args.sent(head, append, log));
    if (reply[0] !== "saved") return reply;
    // A repeated save has the revision, and perhaps the head, of its first run.
    if (reply[1] === revision) this.#heads.saved(expected, revision, head);
    this.#carried.forget(slot, takes);
    return reply;
  }

  async #runSave(slot: Slot, areKept: boolean, args: ScriptArgs): Promise<readonly RedisReply[]> {
    const { keyPrefix, minReplicas } = this.#options;
    const what = `saving ${describeSlot(slot)}`;
    const wrote = (answer: RedisReply) => Array.isArray(answer) && answer[0] === "saved";
    const keys = saveKeys(keyPrefix, slot, areKept);
    const reply = await this.#connection.run(what, saveScript, keys, args, { minReplicas, wrote });
    return reply as readonly RedisReply[];
  }

  /** Removes a session from the index of those that wait, when a reply names, at this place, the wait that has ended. */
  #endWait(slot: Slot, reply: RedisReply, at: number): void {
    const since = Array.isArray(reply) ? reply[at] : undefined;
    if (typeof since === "string") this.#index.waiting.remove(slot, since);
  }

  /** A new session is indexed before it is saved, so that none is missing; later updates of the index may be late. */
  async #updateIndex(slot: Slot, { expected }: StateWrite): Promise<void> {
    const [isNew, at] = [expected === null, Date.now()];
    if (!isNew && !this.#index.isDue(slot, at)) return;
    const touched = this.#index.touch(slot, at, isNew);
    if (isNew) await touched;
    else touched.catch(() => undefined);
  }
}
