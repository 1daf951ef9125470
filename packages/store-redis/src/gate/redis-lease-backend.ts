import { HoldfastError, type Slot } from "@holdfast/core";
import {
  type Claim,
  describeSlot,
  type EnterAnswer,
  type EnterTerms,
  inboxFull,
  type LeaseBackend,
  type NodeBeats,
  type SeenCall,
} from "@holdfast/core/store-kit";
import type { RedisConnection, RedisReply } from "../connection/redis-connection.js";
import { isTextOrNull } from "../connection/reply-shape.js";
import type { CarriedEntries } from "../inbox/carried-entries.js";
import { entryArgs, idArgs, RedisInbox, readEntries } from "../inbox/redis-inbox.js";
import { beatKey, gateKeys, loadKeys, slotKeys } from "../keys.js";
import type { SlotIndex } from "../listing/slot-index.js";
import { CallListeners, readSignals } from "../signals/call-listeners.js";
import type { SavedHeads } from "../state/saved-heads.js";
import { readStoredState, slotField } from "../state/stored-state.js";
import { enterScript } from "./enter-script.js";
import { callsScript, leaveScript, renewScript } from "./gate-scripts.js";
import { NodeChannel } from "./node-channel.js";

/** Longest entry that travels with every attempt to enter; a longer one is put once, right after the grant. */
const MAX_CARRIED_BYTES = 65_536;

/** Options of {@link RedisLeaseBackend}. */
export interface LeaseBackendOptions {
  readonly keyPrefix: string;
  readonly leaseMs: number;
  readonly nodeTimeoutMs: number | undefined;
  readonly commandTimeoutMs: number;
  /** Options of the store whose states and inboxes come with the lease. @default none come */
  readonly store?:
    | {
        readonly ttlMs: number | undefined;
        readonly minReplicas: number;
        readonly index: SlotIndex;
        readonly carried: CarriedEntries;
        readonly heads: SavedHeads;
      }
    | undefined;
}

/**
 * Leases in Redis: one script per command decides who is next, by the server's clock.
 *
 * Signals to a claim come with the answers to its commands and by the channel of this process, and are handed to the
 * listeners of its call.
 */
export class RedisLeaseBackend implements LeaseBackend {
  readonly kind = "redis";
  readonly reach = "distributed";
  readonly leaseMs: number;
  readonly commandTimeoutMs: number;
  readonly nodes: NodeBeats | undefined;
  /** Listeners for calls that enter here. */
  readonly listeners: CallListeners = new CallListeners();
  readonly node: NodeChannel;
  readonly #connection: RedisConnection;
  readonly #options: LeaseBackendOptions;
  readonly #inbox: RedisInbox | undefined;
  readonly #onClose: () => Promise<void>;
  /** Number of commands that took or kept a claim: each of them makes another version of it. */
  #renewals = 0;

  /** @param onClose - releases what was opened for the backend */
  constructor(
    connection: RedisConnection,
    options: LeaseBackendOptions,
    onClose: () => Promise<void>,
  ) {
    const { keyPrefix, store, leaseMs, nodeTimeoutMs, commandTimeoutMs } = options;
    this.leaseMs = leaseMs;
    this.commandTimeoutMs = commandTimeoutMs;
    this.nodes =
      nodeTimeoutMs === undefined ? undefined : redisNodes(connection, options, nodeTimeoutMs);
    this.node = new NodeChannel(connection, keyPrefix);
    this.#connection = connection;
    this.#options = options;
    this.#inbox = store && new RedisInbox(connection, { keyPrefix, ...store });
    this.#onClose = onClose;
  }

  async enter(claim: Claim, terms: EnterTerms): Promise<EnterAnswer> {
    const sentAt = performance.now();
    const put = this.#inbox === undefined ? undefined : terms.put;
    const [id, kind, json] = put === undefined ? ["", "", ""] : entryArgs(put);
    const isCarried = put !== undefined && Buffer.byteLength(json, "utf8") <= MAX_CARRIED_BYTES;
    const reply = await this.#enter(claim, terms, isCarried ? [id, kind, json] : ["", "", ""]);
    const [verdict, first, second, third, token, version] = reply as readonly RedisReply[];
    if (verdict === "full") throw inboxFull(claim.slot);
    if (verdict === "busy") {
      const before = { token: String(second), version: String(third) };
      return { kind: "busy", waiting: Number(first), before };
    }
    this.#hear(claim, first);
    if (verdict !== "granted") {
      const before = { token: String(token), version: String(version) };
      return { kind: "wait", ahead: Number(second), dueMs: Number(third), before };
    }
    if (this.#inbox === undefined) return { kind: "granted" };
    const leftMs = (): number => Math.max(terms.deadlineMs - (performance.now() - sentAt), 1);
    const inbox =
      put === undefined || isCarried
        ? readable(() => readEntries(claim.slot, third, json))
        : await this.#inbox.putOfClaim(claim.slot, put, leftMs());
    if (put !== undefined) this.#options.store?.carried.put(claim.slot, put.id, json);
    const loaded = readable(() => readStoredState(claim.slot, second ?? null));
    this.#options.store?.heads.loaded(second);
    if (loaded !== null) this.#options.store?.index.keep(claim.slot);
    // Before the call begins: should it die, a listing of unfinished sessions is how it is found.
    if (loaded === null && inbox?.some(({ kind }) => kind === "input"))
      await this.#options.store?.index.add(claim.slot, Date.now(), leftMs());
    return { kind: "granted", loaded, inbox };
  }

  async renew(claim: Claim, deadlineMs: number): Promise<boolean> {
    const { store, keyPrefix } = this.#options;
    const reply = await this.#connection.run(
      `holding ${describeSlot(claim.slot)}`,
      renewScript,
      slotKeys(keyPrefix, claim.slot),
      this.#identity(claim, store?.ttlMs ?? 0),
      { deadlineMs },
    );
    const [verdict, signals] = reply as readonly RedisReply[];
    this.#hear(claim, signals);
    if (verdict === "kept") store?.index.keep(claim.slot);
    return verdict === "kept";
  }

  async leave({ slot, token }: Claim, drop: readonly string[]): Promise<void> {
    const { store, keyPrefix } = this.#options;
    const args = [token, store?.ttlMs ?? 0, ...idArgs(drop)];
    const what = `leaving ${describeSlot(slot)}`;
    await this.#connection.run(what, leaveScript, slotKeys(keyPrefix, slot), args);
  }

  async calls(slot: Slot): Promise<readonly SeenCall[]> {
    const keys = gateKeys(this.#options.keyPrefix, slot);
    const what = `looking at the calls of ${describeSlot(slot)}`;
    const reply = await this.#connection.run(what, callsScript, keys, []);
    return (reply as readonly (readonly string[])[]).map(
      ([callId = "", token = "", version = ""]) => {
        return { callId, claim: { token, version } };
      },
    );
  }

  async watch({ slot, token, callId }: Claim, wake: () => void): Promise<() => void> {
    const hear = (id: string, text: string): void =>
      this.listeners.hear(slot, callId, [{ id, text }]);
    if (!this.node.isListening) await this.node.listen();
    this.node.receive(token, { wake, hear });
    return () => this.node.forget(token);
  }

  async close(): Promise<void> {
    await this.node.close();
    await this.#onClose();
  }

  #enter(
    claim: Claim,
    { mode, maxQueue, known, replaces, deadlineMs }: EnterTerms,
    entry: readonly [id: string, kind: string, json: string],
  ): Promise<RedisReply> {
    const { keyPrefix, store } = this.#options;
    return this.#connection.run(
      `queueing for ${describeSlot(claim.slot)}`,
      enterScript,
      loadKeys(keyPrefix, claim.slot, store?.ttlMs),
      [
        ...this.#identity(
          claim,
          ...[mode, Math.min(maxQueue, Number.MAX_SAFE_INTEGER), store?.ttlMs ?? 0],
        ),
        store === undefined ? "" : slotField(claim.slot),
        known === undefined ? "" : `r${known}`,
        ...entry,
        ...(replaces === undefined ? [] : [replaces.token, replaces.version]),
      ],
      {
        deadlineMs,
        minReplicas: entry[0] === "" ? 0 : store?.minReplicas,
        wrote: (answer) => Array.isArray(answer) && answer[0] === "granted",
      },
    );
  }

  /** @param terms - short words and numbers that follow in the same argument: each argument of its own costs bytes */
  #identity({ slot, token, callId }: Claim, ...terms: (string | number)[]): string[] {
    const listens = this.listeners.has(slot, callId) ? 1 : 0;
    const all = [listens, this.leaseMs, ++this.#renewals, ...terms];
    return [token, callId, this.node.name, all.join(" ")];
  }

  #hear({ slot, callId }: Claim, reply: RedisReply | undefined): void {
    this.listeners.hear(slot, callId, readSignals(reply));
  }
}

/** Heartbeats of processes, each under a key of its own. */
function redisNodes(
  connection: RedisConnection,
  { keyPrefix, leaseMs }: LeaseBackendOptions,
  timeoutMs: number,
): NodeBeats {
  return {
    timeoutMs,
    async beat(nodeId, count, deadlineMs) {
      const args = [beatKey(keyPrefix, nodeId), count, "PX", leaseMs];
      await connection.send("sending a heartbeat", "SET", args, { writes: true, deadlineMs });
    },
    async lastBeat(nodeId, deadlineMs) {
      const key = beatKey(keyPrefix, nodeId);
      const reply = isTextOrNull;
      const options = { deadlineMs, reply };
      return (await connection.send("looking for a heartbeat", "GET", [key], options)) as
        | string
        | null;
    },
  };
}

/** Leaves out what came with a lease but cannot be read: reading it by itself tells why, and it can be deleted. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (HoldfastError.is(error)) return undefined;
    throw error;
  }
}
