import { StoreUnavailableError } from "../../errors/store-errors.js";
import type { Reach } from "../../ports/agent-state-store.js";
import type { AcquireRequest, Lease, SessionGate } from "../../ports/session-gate.js";
import { checkSlot, describeSlot, type Slot } from "../../slot/slot.js";
import { type NodeName, newToken, nodeOf } from "./claim-token.js";
import { type Grant, HeldLease } from "./held-lease.js";
import type { Claim, LeaseBackend, SeenClaim } from "./lease-backend.js";
import { NodeHeartbeat } from "./node-heartbeat.js";
import { NodeWatches } from "./node-watches.js";
import { Ticket } from "./ticket.js";

/**
 * Serialises the calls on a slot by leases that a {@link LeaseBackend} grants.
 *
 * Contract, beyond that of {@link SessionGate}:
 * - A claim keeps its place and its lease by heartbeats a third of `leaseMs` apart; a failed one is repeated until `leaseMs`
 *   has passed since the last that was answered.
 * - A lease is lost once `leaseMs` has passed by the monotonic or by the wall clock, whether or not the backend was reached.
 * - Where the backend has {@link LeaseBackend.nodes}, a claim of a process without a heartbeat for their `timeoutMs` gives way
 *   to the claim behind it. A lease that may have been taken that way is in doubt, which `confirm` settles.
 * - What one call has found out about a process, all know: one that may not wait takes over from a process that is known to be
 *   silent, and `calls` leaves its calls out. Asking for the calls of another process begins to watch it for a few seconds.
 * - After {@link close} leases are lost, and every call that waits or comes is refused with `StoreUnavailableError`.
 *
 * @example
 * const gate = new LeaseGate(new RedisLeaseBackend(connection));
 */
export class LeaseGate implements SessionGate {
  readonly contract = 1;
  readonly kind: string;
  readonly reach: Reach;
  readonly #backend: LeaseBackend;
  readonly #tickets = new Map<string, Ticket>();
  readonly #leases = new Map<string, HeldLease>();
  readonly #watches = new Map<string, () => void>();
  readonly #node: NodeHeartbeat | undefined;
  readonly #nodeWatches: NodeWatches | undefined;
  #closed: Promise<void> | undefined;

  constructor(backend: LeaseBackend) {
    const { nodes } = backend;
    this.#backend = backend;
    const node =
      nodes &&
      new NodeHeartbeat(nodes, (sentAt) => {
        for (const lease of this.#leases.values()) lease.wasBeat(sentAt);
      });
    this.#node = node;
    this.#nodeWatches = nodes && node && new NodeWatches(nodes, backend.leaseMs, () => node.beat());
    this.kind = backend.kind;
    this.reach = backend.reach;
  }

  /** Number of calls of this process that hold a slot or wait for one, for monitoring: 0 when every call has finished. */
  get size(): number {
    return this.#tickets.size + this.#leases.size;
  }

  async acquire(slot: Slot, request: AcquireRequest): Promise<Lease> {
    const owner = checkSlot(slot);
    request.signal?.throwIfAborted();
    if (this.#closed !== undefined) throw closed(owner);
    const claim = { slot: owner, token: newToken(this.#node?.name), callId: request.callId };
    const ticket = new Ticket(claim, this.#backend, request, {
      watch: () => this.#watch(claim),
      watchNode: (before, onSilence) => this.#watchNode(before, onSilence),
      isSilent: (before) => this.#isSilent(before),
    });
    this.#tickets.set(claim.token, ticket);
    this.#node?.add(claim.token);
    try {
      return this.#hold(await ticket.turn);
    } finally {
      this.#tickets.delete(claim.token);
      if (!this.#leases.has(claim.token)) this.#unwatch(claim.token);
    }
  }

  async calls(slot: Slot): Promise<readonly string[]> {
    const found = await this.#backend.calls(checkSlot(slot));
    for (const { claim } of found) {
      const node = claim && this.#closed === undefined && this.#otherNode(claim);
      if (node) this.#nodeWatches?.lookOut(node);
    }
    return found
      .filter(({ claim }) => claim === undefined || !this.#isSilent(claim))
      .map(({ callId }) => callId);
  }

  /** Runs a save that releases the lease with this token: a renewal that crosses it loses nothing and keeps nothing. */
  whileReleasing<T>(token: string, save: () => Promise<T>): Promise<T> {
    const lease = this.#leases.get(token);
    return lease === undefined ? save() : lease.whileReleasing(save);
  }

  /** Ends the lease with this token, which a save sent at `sentAt` has released, on the clock of `performance.now()`. */
  wasReleased(token: string, sentAt: number): void {
    this.#leases.get(token)?.wasReleased(sentAt);
  }

  /** Refuses all that wait, loses the leases still held, and closes the backend. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#nodeWatches?.close();
    for (const lease of [...this.#leases.values()]) lease.abandon();
    const why = new StoreUnavailableError("the gate was closed; send the call to another process");
    await Promise.all([...this.#tickets.values()].map((ticket) => ticket.giveUp(why)));
    await this.#backend.close();
  }

  #hold(grant: Grant): Lease {
    const { token } = grant.claim;
    const lease = new HeldLease(grant, this.#backend, () => {
      this.#leases.delete(token);
      this.#unwatch(token);
    });
    this.#leases.set(token, lease);
    if (this.#closed !== undefined) lease.abandon();
    return lease;
  }

  /** Watches from before the claim is first made known until its lease has ended. */
  async #watch(claim: Claim): Promise<void> {
    const { token } = claim;
    if (this.#watches.has(token)) return;
    const end = await this.#backend.watch(claim, () => {
      this.#tickets.get(token)?.wake();
      this.#leases.get(token)?.wake();
    });
    if (this.#tickets.has(token)) this.#watches.set(token, end);
    else end();
  }

  #watchNode(claim: SeenClaim, onSilence: () => void): () => void {
    const node = this.#otherNode(claim);
    return (node && this.#nodeWatches?.add(node, claim, onSilence)) ?? (() => undefined);
  }

  #isSilent(claim: SeenClaim): boolean {
    const node = this.#otherNode(claim);
    return (node && this.#nodeWatches?.isSilent(node, claim)) ?? false;
  }

  /** A process needs no heartbeat to know that it is alive itself. */
  #otherNode({ token }: SeenClaim): NodeName | undefined {
    const node = nodeOf(token);
    return node?.id === this.#node?.name.id ? undefined : node;
  }

  #unwatch(token: string): void {
    this.#node?.remove(token);
    this.#watches.get(token)?.();
    this.#watches.delete(token);
  }
}

function closed(slot: Slot): StoreUnavailableError {
  return new StoreUnavailableError(
    `${describeSlot(slot)} was not acquired: the gate is closed; send the call to another process`,
  );
}
