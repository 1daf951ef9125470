import { SessionBusyError, type SessionGate, type Slot } from "@holdfast/core";
import {
  type AcquireRequest,
  checkSlot,
  describeSlot,
  type Lease,
  type LoadedState,
  slotText,
  uuidv7,
} from "@holdfast/core/store-kit";

interface Waiter {
  readonly callId: string;
  readonly token: string;
  start(): void;
}

/** The shortest gate that keeps the contract; broken ones override a protected method. */
export class ReferenceGate implements SessionGate {
  readonly contract = 1;
  readonly kind = "reference";
  readonly reach = "process";
  readonly queues: Map<string, Waiter[]> = new Map();
  readonly #load: ((slot: Slot) => LoadedState | null) | undefined;

  constructor(load?: (slot: Slot) => LoadedState | null) {
    this.#load = load;
  }

  async acquire(slot: Slot, request: AcquireRequest): Promise<Lease> {
    const key = slotText(checkSlot(slot));
    const { signal, callId, wait = true, maxQueue = 100 } = request;
    signal?.throwIfAborted();
    const queue = this.queues.get(key) ?? [];
    const ahead = queue.length;
    if (ahead > 0 && (!wait || ahead > maxQueue))
      throw new SessionBusyError(`${describeSlot(slot)} is busy with ${ahead} calls; try later`);
    this.queues.set(key, queue);
    const token = uuidv7();
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.leave(slot, token);
        reject(signal?.reason);
      };
      const start = (): void => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      signal?.addEventListener("abort", leave, { once: true });
      this.enqueue(queue, { callId, token, start });
      if (this.mayStart(ahead)) start();
      else request.onWait?.(ahead);
    });
    const loaded = this.#load?.(slot);
    return {
      token,
      lost: new AbortController().signal,
      ...(loaded === undefined
        ? {}
        : { loaded: loaded?.revision === request.known?.() && loaded ? "unchanged" : loaded }),
      release: async () => this.releaseToken(slot, token),
    };
  }

  async calls(slot: Slot): Promise<readonly string[]> {
    return (this.queues.get(slotText(checkSlot(slot))) ?? []).map(({ callId }) => callId);
  }

  holds(slot: Slot, token: string): boolean {
    return this.queues.get(slotText(slot))?.[0]?.token === token;
  }

  releaseToken(slot: Slot, token: string): void {
    if (this.holds(slot, token)) this.leave(slot, token);
  }

  /** Ends every lease, as the time limit of a distributed gate does when they are no longer renewed. */
  lapse(): void {
    for (const [key, queue] of [...this.queues]) {
      queue.shift();
      if (queue.length === 0) this.queues.delete(key);
      else queue[0]?.start();
    }
  }

  protected mayStart(ahead: number): boolean {
    return ahead === 0;
  }

  protected enqueue(queue: Waiter[], waiter: Waiter): void {
    queue.push(waiter);
  }

  protected leave(slot: Slot, token: string): void {
    const queue = this.queues.get(slotText(slot)) ?? [];
    const index = queue.findIndex((waiter) => waiter.token === token);
    if (index < 0) return;
    queue.splice(index, 1);
    if (queue.length === 0) this.queues.delete(slotText(slot));
    else if (index === 0) queue[0]?.start();
  }
}
