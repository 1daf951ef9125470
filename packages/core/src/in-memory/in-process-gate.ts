import { randomUUID } from "node:crypto";
import { SessionBusyError } from "../errors/errors.js";
import type { LoadAnswer, Revision } from "../ports/agent-state-store.js";
import type { AcquireRequest, Lease, SessionGate } from "../ports/session-gate.js";
import { checkSlot, describeSlot, type Slot, slotText } from "../slot/slot.js";
import { FifoQueue } from "./fifo-queue.js";
import type { InMemoryInbox } from "./in-memory-inbox.js";

/** Longest queue of a slot, unless the request sets another. */
export const DEFAULT_MAX_QUEUE = 100;

interface Holder {
  readonly callId: string;
  readonly token: string;
}

interface Waiter {
  readonly callId: string;
  /** Gives the waiter the slot; `false` when it could not take it. */
  admit(): boolean;
}

interface SlotQueue {
  readonly slot: Slot;
  holder: Holder;
  readonly waiting: FifoQueue<Waiter>;
}

/**
 * Serialises the calls on a slot within one process, first come, first served: the reference gate.
 *
 * Contract, beyond that of {@link SessionGate}:
 * - A lease is never lost: a holder can only die with the whole process, and with it the gate.
 * - A slot without a holder takes no memory.
 *
 * @example
 * const gate = new InProcessSessionGate();
 */
export class InProcessSessionGate implements SessionGate {
  readonly contract = 1;
  readonly kind = "in-process";
  readonly reach = "process";
  readonly #queues = new Map<string, SlotQueue>();
  readonly #onUse: ((slot: Slot) => void) | undefined;

  /** @param onUse - called before a free slot is taken, and when the last call on it has ended */
  constructor(onUse?: (slot: Slot) => void) {
    this.#onUse = onUse;
  }

  /** Number of slots in use, for monitoring: 0 when every call has finished. */
  get size(): number {
    return this.#queues.size;
  }

  /**
   * Waits for the slot and returns the lease on it.
   *
   * @param onGrant - called in the step that grants the lease; when it throws, `acquire` rejects and the next call gets the slot
   */
  async acquire(slot: Slot, request: AcquireRequest, onGrant?: () => void): Promise<Lease> {
    const owner = checkSlot(slot);
    const key = slotText(owner);
    request.signal?.throwIfAborted();
    const queue = this.#queues.get(key);
    if (queue === undefined) {
      this.#onUse?.(owner);
      onGrant?.();
      const holder = newHolder(request.callId);
      this.#queues.set(key, { slot: owner, holder, waiting: new FifoQueue() });
      return this.#leaseOf(key, holder);
    }
    const { wait = true, maxQueue = DEFAULT_MAX_QUEUE } = request;
    if (!wait || queue.waiting.size >= maxQueue)
      throw new SessionBusyError(
        `${describeSlot(slot)} is running another call and ${queue.waiting.size} wait for it; ${
          wait ? `at most ${maxQueue} may wait` : "this call may not wait"
        }: try again later`,
      );
    return this.#waitFor(key, queue, request, onGrant);
  }

  async calls(slot: Slot): Promise<readonly string[]> {
    const queue = this.#queues.get(slotText(checkSlot(slot)));
    if (queue === undefined) return [];
    return [queue.holder.callId, ...Array.from(queue.waiting, (waiter) => waiter.callId)];
  }

  /** Tells whether a call holds the slot. */
  isTaken(slot: Slot): boolean {
    return this.#queues.has(slotText(slot));
  }

  /** Tells whether the lease with this token holds the slot, for stores that check leases inside a save. */
  isHeldBy(slot: Slot, token: string): boolean {
    return this.#queues.get(slotText(slot))?.holder.token === token;
  }

  /** Ends a lease and admits the next waiter; returns `false` when the lease does not hold the slot. */
  release(slot: Slot, token: string): boolean {
    return this.#release(slotText(slot), token);
  }

  #waitFor(
    key: string,
    queue: SlotQueue,
    request: AcquireRequest,
    onGrant: (() => void) | undefined,
  ): Promise<Lease> {
    const { callId, signal } = request;
    return new Promise<Lease>((resolve, reject) => {
      const place = queue.waiting.push({
        callId,
        admit: () => {
          signal?.removeEventListener("abort", onAbort);
          try {
            onGrant?.();
          } catch (error) {
            reject(error);
            return false;
          }
          queue.holder = newHolder(callId);
          resolve(this.#leaseOf(key, queue.holder));
          return true;
        },
      });
      const onAbort = () => leave(signal?.reason);
      function leave(reason: unknown): void {
        if (!queue.waiting.remove(place)) return;
        signal?.removeEventListener("abort", onAbort);
        reject(reason);
      }
      signal?.addEventListener("abort", onAbort);
      try {
        request.onWait?.(queue.waiting.size);
      } catch (error) {
        leave(error);
      }
    });
  }

  #leaseOf(key: string, holder: Holder): Lease {
    return new ProcessLease(holder.token, () => this.#release(key, holder.token));
  }

  #release(key: string, token: string): boolean {
    const queue = this.#queues.get(key);
    if (queue?.holder.token !== token) return false;
    for (let next = queue.waiting.shift(); next; next = queue.waiting.shift())
      if (next.admit()) return true;
    this.#queues.delete(key);
    this.#onUse?.(queue.slot);
    return true;
  }
}

class ProcessLease implements Lease {
  readonly token: string;
  readonly #end: () => void;
  #never: AbortSignal | undefined;

  constructor(token: string, end: () => void) {
    this.token = token;
    this.#end = end;
  }

  readonly validUntil: number = Number.POSITIVE_INFINITY;

  // One per lease, made on demand: listeners on a shared signal would pile up over the calls.
  get lost(): AbortSignal {
    this.#never ??= new AbortController().signal;
    return this.#never;
  }

  async release(): Promise<void> {
    this.#end();
  }
}

function newHolder(callId: string): Holder {
  return { callId, token: randomUUID() };
}

/** Parts of a store that its fused gate reads and writes together with a grant. */
export interface GrantedParts {
  load(slot: Slot, known?: Revision): LoadAnswer;
  readonly inbox: InMemoryInbox;
}

/**
 * In-process gate whose leases come with the loaded state and the inbox, as those of a fused gate do in one round trip.
 *
 * A request whose entry finds no room in the inbox is rejected with `StateTooLargeError`, and the next call gets the slot.
 */
export class LoadingGate implements SessionGate {
  readonly contract = 1;
  readonly kind = "memory";
  readonly reach = "process";
  readonly #gate: InProcessSessionGate;
  readonly #parts: GrantedParts;

  constructor(gate: InProcessSessionGate, parts: GrantedParts) {
    this.#gate = gate;
    this.#parts = parts;
  }

  async acquire(slot: Slot, request: AcquireRequest): Promise<Lease> {
    const owner = checkSlot(slot);
    const { inbox } = this.#parts;
    const put = request.put && inbox.stage(owner, request.put);
    const lease = await this.#gate.acquire(owner, request, put);
    return {
      token: lease.token,
      get lost() {
        return lease.lost;
      },
      validUntil: lease.validUntil,
      // A step later: the caller's cache may hold what the call before it has just saved.
      loaded: this.#parts.load(owner, request.known?.()),
      inbox: inbox.entriesOf(owner),
      release: async (drop = []) => {
        // A lease that has ended removes nothing: the entries are the next holder's.
        if (this.#gate.isHeldBy(owner, lease.token)) inbox.drop(owner, drop);
        this.#gate.release(owner, lease.token);
      },
    };
  }

  calls(slot: Slot): Promise<readonly string[]> {
    return this.#gate.calls(slot);
  }
}
