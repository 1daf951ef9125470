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
  type LoadedState,
  type StateWrite,
} from "@holdfast/core/store-kit";
import { connect, type RedisConnection, type RedisReply } from "../connection/redis-connection.js";
import { defineScript } from "../connection/script.js";
import { RedisSessionGate } from "../gate/redis-session-gate.js";
import { RedisKeyValueStore } from "../key-value/redis-key-value-store.js";
import { partKey, slotKeys } from "../keys.js";
import { SlotIndex } from "../listing/slot-index.js";
import { RedisConversationLog } from "../log/redis-conversation-log.js";
import {
  type RedisLeaseOptions,
  type RedisStoreOptions,
  type ResolvedOptions,
  readOptions,
} from "../options.js";
import { RedisSignalBus } from "../signals/redis-signal-bus.js";
import { saveArgs, savedRevision, saveScript } from "./save-script.js";
import { loadScript, readStoredState, slotField } from "./stored-state.js";

/** Deletes a state in any condition. KEYS: state, messages. */
const deleteScript = defineScript("delete", true, "return redis.call('UNLINK', KEYS[1], KEYS[2])");

/** Options of {@link RedisAgentStateStore}. */
export interface RedisAgentStateStoreOptions extends RedisStoreOptions, RedisLeaseOptions {}

interface Companions extends DistributedStore {
  readonly keyValue: RedisKeyValueStore;
  readonly signals: RedisSignalBus;
}

/**
 * Stores agent states in Redis, for any number of nodes: a list of messages and a hash for the rest.
 *
 * Contract, beyond {@link AgentStateStore}'s:
 * - A save is one script that carries what changed and the log records of the call, and releases the lease. With the gate of
 *   `companions()`, which loads the state along with the lease, a turn takes two round trips.
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
  readonly fuses: { readonly gate: RedisSessionGate; readonly log: RedisConversationLog };
  readonly #options: ResolvedOptions;
  readonly #connection: RedisConnection;
  readonly #index: SlotIndex;
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
      "commandTimeoutMs",
    ]);
    const { client, keyPrefix, commandTimeoutMs, ttlMs, minReplicas, leaseMs } = resolved;
    const connection = connect(client, resolved);
    const part = { client, keyPrefix, commandTimeoutMs };
    const gate = new RedisSessionGate({ ...part, leaseMs }, { connection, loading: { ttlMs } });
    const log = new RedisConversationLog({ ...part, ttlMs, minReplicas }, connection);
    this.#options = resolved;
    this.#connection = connection;
    this.#index = new SlotIndex(connection, resolved);
    this.fuses = { gate, log };
    this.#companions = {
      stateStore: this,
      log,
      keyValue: new RedisKeyValueStore({ ...part, minReplicas }),
      gate,
      signals: new RedisSignalBus({ ...part, leaseMs }, { connection, gate }),
    };
  }

  async load(slot: Slot, known?: Revision): Promise<LoadedState | "unchanged" | null> {
    const owner = checkSlot(slot);
    const { keyPrefix, ttlMs = 0 } = this.#options;
    const reply = await this.#connection.run(
      `loading ${describeSlot(owner)}`,
      loadScript,
      slotKeys(keyPrefix, owner),
      [slotField(owner), known === undefined ? "" : `r${known}`, ttlMs],
    );
    return readStoredState(owner, reply);
  }

  async save(slot: Slot, write: StateWrite): Promise<Revision> {
    const owner = checkSlot(slot);
    const { keyPrefix, ttlMs, minReplicas } = this.#options;
    const args = saveArgs(owner, write, ttlMs);
    const { log = [] } = write;
    const staging = this.fuses.log.stage(owner, log, write.append, write.expected === null);
    await Promise.all([staging, this.#updateIndex(owner, write)]);
    const savedAt = performance.now();
    const reply = await this.#connection.run(
      `saving ${describeSlot(owner)}`,
      saveScript,
      slotKeys(keyPrefix, owner),
      [...args, ...(await staging)],
      { minReplicas, wrote: (answer) => Array.isArray(answer) && answer[0] === "saved" },
    );
    const revision = savedRevision(owner, write, reply as readonly RedisReply[]);
    if (write.lease !== undefined && write.release)
      this.fuses.gate.wasReleased(write.lease, savedAt);
    return revision;
  }

  async delete(slot: Slot): Promise<boolean> {
    const owner = checkSlot(slot);
    const { keyPrefix, minReplicas } = this.#options;
    await this.#index.forget(owner);
    const keys = (["state", "messages"] as const).map((part) => partKey(keyPrefix, owner, part));
    const what = `deleting ${describeSlot(owner)}`;
    return (await this.#connection.run(what, deleteScript, keys, [], { minReplicas })) !== 0;
  }

  async list(query: SlotQuery = {}): Promise<SlotPage> {
    return this.#index.list(query);
  }

  /** Log, values, gate and signals on the same Redis. */
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

  /** A new session is indexed before it is saved, so that none is missing; later updates of the index may be late. */
  async #updateIndex(slot: Slot, { expected }: StateWrite): Promise<void> {
    const touched = this.#index.touch(slot, Date.now(), expected === null);
    if (expected === null) await touched;
    else touched.catch(() => undefined);
  }
}
