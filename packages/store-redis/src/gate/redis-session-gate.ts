import { randomUUID } from "node:crypto";
import { HoldfastError, type SessionGate, type Slot, StoreUnavailableError } from "@holdfast/core";
import {
  type AcquireRequest,
  checkSlot,
  type Lease,
  type LoadedState,
} from "@holdfast/core/store-kit";
import { connect, type RedisConnection, type RedisReply } from "../connection/redis-connection.js";
import { type RedisLeaseOptions, type RedisPartOptions, readOptions } from "../options.js";
import { CallListeners } from "../signals/call-listeners.js";
import { readStoredState } from "../state/stored-state.js";
import { type Caller, LineCommands, type LineOptions } from "./line-commands.js";
import { NodeChannel } from "./node-channel.js";
import { type LeaseOrigin, RedisLease } from "./redis-lease.js";
import type { SentSignal } from "./sent-signal.js";
import { Ticket, type Turn } from "./ticket.js";

/** How a {@link RedisSessionGate} is set up. */
export interface RedisSessionGateOptions extends RedisPartOptions, RedisLeaseOptions {}

/** What a gate that belongs to a store takes from it. */
export interface SharedGate {
  readonly connection: RedisConnection;
  readonly loading: LineOptions["loading"];
}

/**
 * Serialises calls on a slot among all nodes, first come, first served.
 *
 * Contract, beyond {@link SessionGate}'s:
 * - Time is the server's: leases expire there, and who waits but was not heard of for `leaseMs` is passed over.
 * - Whoever is next is woken by a message; one that is lost costs at most a third of `leaseMs`.
 * - A slot leaves no key behind.
 * - The gate of a `RedisAgentStateStore` loads the state along with the lease; one made on its own does not.
 *
 * @example
 * const lease = await new RedisSessionGate({ client: new Redis() }).acquire(slot, { callId });
 */
export class RedisSessionGate implements SessionGate {
  readonly contract = 1;
  readonly kind = "redis";
  readonly reach = "distributed";
  /** @internal Who listens for calls that enter here. */
  readonly listeners: CallListeners = new CallListeners();
  /** @internal */
  readonly node: NodeChannel;
  readonly #connection: RedisConnection;
  readonly #ownsConnection: boolean;
  readonly #commands: LineCommands;
  readonly #loads: boolean;
  readonly #tickets = new Set<Ticket>();
  readonly #leases = new Map<string, RedisLease>();
  #isClosed = false;

  /**
   * @param shared - what belongs to the store this is the gate of; without one the gate makes its own connection
   * @throws ConfigurationError
   */
  constructor(options: RedisSessionGateOptions, shared?: SharedGate) {
    const resolved = readOptions("RedisSessionGate", options, [
      "client",
      "keyPrefix",
      "leaseMs",
      "commandTimeoutMs",
    ]);
    const loading = shared?.loading;
    this.#ownsConnection = shared === undefined;
    this.#connection = shared?.connection ?? connect(resolved.client, resolved);
    this.#loads = loading !== undefined;
    this.#commands = new LineCommands(this.#connection, { ...resolved, loading });
    this.node = new NodeChannel(this.#connection, resolved.keyPrefix);
  }

  /** Calls of this process that hold or wait for a slot right now, for monitoring: 0 when every call has finished. */
  get size(): number {
    return this.#tickets.size + this.#leases.size;
  }

  async acquire(slot: Slot, request: AcquireRequest): Promise<Lease> {
    const owner = checkSlot(slot);
    request.signal?.throwIfAborted();
    if (this.#isClosed) throw closed();
    const { callId } = request;
    const listens = this.listeners.has(owner, callId);
    const caller = { slot: owner, token: randomUUID(), callId, node: this.node.name, listens };
    const hear = (signals: readonly SentSignal[]): void =>
      this.listeners.hear(owner, callId, signals);
    const ticket: Ticket = new Ticket(
      {
        ...{ caller, commands: this.#commands, node: this.node, hear },
        onEnd: () => this.#tickets.delete(ticket),
      },
      request,
    );
    this.#tickets.add(ticket);
    return this.#leaseOf(caller, hear, await ticket.turn);
  }

  async calls(slot: Slot): Promise<readonly string[]> {
    return this.#commands.calls(checkSlot(slot));
  }

  /** @internal A save that was sent at `savedAt` gave this lease back. */
  wasReleased(token: string, savedAt: number): void {
    this.#leases.get(token)?.wasReleased(savedAt);
  }

  /** Ends all waiting with `StoreUnavailableError`; leases still held are lost and end by themselves. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const lease of [...this.#leases.values()]) lease.abandon();
    await Promise.all([...this.#tickets].map((ticket) => ticket.giveUp(closed())));
    await this.node.close();
    if (this.#ownsConnection) await this.#connection.close();
  }

  #leaseOf(caller: Caller, hear: LeaseOrigin["hear"], { answer, sentAt }: Turn): Lease {
    const { slot, token } = caller;
    const lease = new RedisLease({
      ...{ caller, commands: this.#commands, hear, takenAt: sentAt },
      loaded: this.#loads ? loadedOf(slot, answer.state) : undefined,
      onEnd: () => {
        this.#leases.delete(token);
        this.node.forget(token);
      },
    });
    this.#leases.set(token, lease);
    this.node.receive(token, lease);
    return lease;
  }
}

/** What cannot be read does not come with the lease: loading it tells why, and it can still be deleted. */
function loadedOf(slot: Slot, reply: RedisReply): LoadedState | "unchanged" | null | undefined {
  try {
    return readStoredState(slot, reply);
  } catch (error) {
    if (HoldfastError.is(error)) return undefined;
    throw error;
  }
}

function closed(): StoreUnavailableError {
  return new StoreUnavailableError("the gate was closed; no call can enter it any more");
}
