import { randomUUID } from "node:crypto";
import { SessionBusyError } from "../errors/errors.js";
import type { LoadedState, Revision } from "../ports/agent-state-store.js";
import type { AcquireRequest, Lease, SessionGate } from "../ports/session-gate.js";
import { checkSlot, describeSlot, type Slot, slotText } from "../slot/slot.js";
import { FifoQueue } from "./fifo-queue.js";

/** Longest queue of a slot, unless the request sets another. */
export const DEFAULT_MAX_QUEUE = 100;

interface Holder {
  readonly callId: string;
  readonly token: string;
}

interface Waiter {
  readonly callId: string;
  admit(): void;
}

interface SlotQueue {
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

  /** Number of slots in use, for monitoring: 0 when every call has finished. */
  get size(): number {
    return this.#queues.size;
  }

  async acquire(slot: Slot, request: AcquireRequest): Promise<Lease> {
    const key = slotText(checkSlot(slot));
    request.signal?.throwIfAborted();
    const queue = this.#queues.get(key);
    if (queue === undefined) {
      const holder = newHolder(request.callId);
      this.#queues.set(key, { holder, waiting: new FifoQueue() });
      return this.#leaseOf(key, holder);
    }
    const { wait = true, maxQueue = DEFAULT_MAX_QUEUE } = request;
    if (!wait || queue.waiting.size >= maxQueue)
      throw new SessionBusyError(
        `${describeSlot(slot)} is running another call and ${queue.waiting.size} wait for it; ${
          wait ? `at most ${maxQueue} may wait` : "this call may not wait"
        }: try again later`,
      );
    return this.#waitFor(key, queue, request);
  }

  async calls(slot: Slot): Promise<readonly string[]> {
    const queue = this.#queues.get(slotText(checkSlot(slot)));
    if (queue === undefined) return [];
    return [queue.holder.callId, ...Array.from(queue.waiting, (waiter) => waiter.callId)];
  }

  /** Tells whether the lease with this token holds the slot, for stores that check leases inside a save. */
  isHeldBy(slot: Slot, token: string): boolean {
    return this.#queues.get(slotText(slot))?.holder.token === token;
  }

  /** Ends a lease and admits the next waiter; returns `false` when the lease does not hold the slot. */
  release(slot: Slot, token: string): boolean {
    return this.#release(slotText(slot), token);
  }

  #waitFor(key: string, queue: SlotQueue, request: AcquireRequest): Promise<Lease> {
    const { callId, signal } = request;
    return new Promise<Lease>((resolve, reject) => {
      const place = queue.waiting.push({
        callId,
        admit: () => {
          signal?.removeEventListener("abort", onAbort);
          queue.holder = newHolder(callId);
          resolve(this.#leaseOf(key, queue.holder));
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
    const next = queue.waiting.shift();
    if (next) next.admit();
    else this.#queues.delete(key);
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

/** In-process gate whose leases come with the loaded state, as those of a fused gate do in one round trip. */
export class LoadingGate implements SessionGate {
  readonly contract = 1;
  readonly kind = "memory";
  readonly reach = "process";
  readonly #gate: InProcessSessionGate;
  readonly #load: (slot: Slot, known?: Revision) => LoadedState | "unchanged" | null;

  constructor(
    gate: InProcessSessionGate,
    load: (slot: Slot, known?: Revision) => LoadedState | "unchanged" | null,
  ) {
    this.#gate = gate;
    this.#load = load;
  }

  async acquire(slot: Slot, request: AcquireRequest): Promise<Lease> {
    const lease = await this.#gate.acquire(slot, request);
    return {
      token: lease.token,
      get lost() {
        return lease.lost;
      },
      loaded: this.#load(slot, request.known?.()),
      release: () => lease.release(),
    };
  }

  calls(slot: Slot): Promise<readonly string[]> {
    return this.#gate.calls(slot);
  }
}
