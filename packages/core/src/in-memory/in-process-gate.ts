import { randomUUID } from "node:crypto";
import { SessionBusyError } from "../errors/errors.js";
import type { AcquireRequest, Lease, SessionGate } from "../ports/session-gate.js";
import { checkSlot, describeSlot, type Slot, slotText } from "../slot/slot.js";
import { FifoQueue } from "./fifo-queue.js";

/** How many calls may wait for a slot unless the request says otherwise. */
export const DEFAULT_MAX_QUEUE = 100;

interface Holder {
  readonly callId: string;
  readonly token: string;
}

interface Waiter {
  readonly callId: string;
  admit(): void;
}

interface Line {
  holder: Holder;
  readonly waiting: FifoQueue<Waiter>;
}

/**
 * Serialises calls on a slot within one process: strictly first come, first served.
 *
 * Contract, beyond {@link SessionGate}'s:
 * - A lease is never lost: a holder that dies takes the whole process, and with it the gate, along.
 * - A slot that nobody holds takes no memory.
 */
export class InProcessSessionGate implements SessionGate {
  readonly contract = 1;
  readonly kind = "in-process";
  readonly reach = "process";
  readonly #lines = new Map<string, Line>();

  /** Slots in use right now, for monitoring: 0 when every call has finished. */
  get size(): number {
    return this.#lines.size;
  }

  async acquire(slot: Slot, request: AcquireRequest): Promise<Lease> {
    const key = slotText(checkSlot(slot));
    request.signal?.throwIfAborted();
    const line = this.#lines.get(key);
    if (line === undefined) {
      const holder = newHolder(request.callId);
      this.#lines.set(key, { holder, waiting: new FifoQueue() });
      return this.#leaseOf(key, holder);
    }
    const { wait = true, maxQueue = DEFAULT_MAX_QUEUE } = request;
    if (!wait || line.waiting.size >= maxQueue)
      throw new SessionBusyError(
        `${describeSlot(slot)} is running another call and ${line.waiting.size} wait for it; ${
          wait ? `at most ${maxQueue} may wait` : "this call may not wait"
        }: try again later`,
      );
    return this.#waitFor(key, line, request);
  }

  async calls(slot: Slot): Promise<readonly string[]> {
    const line = this.#lines.get(slotText(checkSlot(slot)));
    if (line === undefined) return [];
    return [line.holder.callId, ...Array.from(line.waiting, (waiter) => waiter.callId)];
  }

  /** Whether `token` is the lease that holds the slot now; for stores that check leases inside a save. */
  isHeldBy(slot: Slot, token: string): boolean {
    return this.#lines.get(slotText(slot))?.holder.token === token;
  }

  /** Ends that lease and admits the next in line; `false` when the slot is not held by it. */
  release(slot: Slot, token: string): boolean {
    return this.#release(slotText(slot), token);
  }

  #waitFor(key: string, line: Line, request: AcquireRequest): Promise<Lease> {
    const { callId, signal } = request;
    return new Promise<Lease>((resolve, reject) => {
      const place = line.waiting.push({
        callId,
        admit: () => {
          signal?.removeEventListener("abort", onAbort);
          line.holder = newHolder(callId);
          resolve(this.#leaseOf(key, line.holder));
        },
      });
      const onAbort = () => leave(signal?.reason);
      function leave(reason: unknown): void {
        if (!line.waiting.remove(place)) return;
        signal?.removeEventListener("abort", onAbort);
        reject(reason);
      }
      signal?.addEventListener("abort", onAbort);
      try {
        request.onWait?.(line.waiting.size);
      } catch (error) {
        leave(error);
      }
    });
  }

  #leaseOf(key: string, holder: Holder): Lease {
    return new ProcessLease(holder.token, () => this.#release(key, holder.token));
  }

  #release(key: string, token: string): boolean {
    const line = this.#lines.get(key);
    if (line?.holder.token !== token) return false;
    const next = line.waiting.shift();
    if (next) next.admit();
    else this.#lines.delete(key);
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

  // One per lease, made when asked for: listeners on a shared signal would pile up over the calls.
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
