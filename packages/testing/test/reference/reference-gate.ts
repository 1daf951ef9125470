import { SessionBusyError, type SessionGate, type Slot } from "@holdfast/core";
import {
  type AcquireRequest,
  checkSlot,
  describeSlot,
  type InboxEntry,
  type Lease,
  type LoadedState,
  slotText,
  uuidv7,
} from "@holdfast/core/store-kit";

interface Waiter {
  readonly callId: string;
  readonly token: string;
  readonly lost: AbortController;
  start(): void;
}

/** What a store's gate reads and writes with a grant. */
export interface GrantedParts {
  load(slot: Slot): LoadedState | null;
  put(slot: Slot, entry: InboxEntry): void;
  entries(slot: Slot): InboxEntry[];
  drop(slot: Slot, ids: readonly string[]): void;
}

/** The shortest gate that keeps the contract; broken ones override a protected method. */
export class ReferenceGate implements SessionGate {
  readonly contract = 1;
  readonly kind = "reference";
  readonly reach = "process";
  readonly queues: Map<string, Waiter[]> = new Map();
  protected readonly parts: GrantedParts | undefined;

  constructor(parts?: GrantedParts) {
    this.parts = parts;
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
    const lost = new AbortController();
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
      this.enqueue(queue, { callId, token, lost, start });
      if (this.mayStart(ahead)) start();
      else request.onWait?.(ahead);
    });
    if (request.put) this.putOrLeave(slot, token, request.put);
    const validUntil = (): number => this.validUntil(slot, token);
    return {
      token,
      lost: lost.signal,
      get validUntil() {
        return validUntil();
      },
      ...this.#granted(slot, request),
      release: async (drop = []) => {
        if (this.mayDrop(slot, token)) this.parts?.drop(slot, drop);
        this.releaseToken(slot, token);
      },
    };
  }

  #granted(slot: Slot, request: AcquireRequest): Pick<Lease, "loaded" | "inbox"> {
    const { parts } = this;
    if (parts === undefined) return {};
    const loaded = parts.load(slot);
    const isKnown = loaded !== null && loaded.revision === request.known?.();
    return { loaded: isKnown ? "unchanged" : loaded, inbox: parts.entries(slot) };
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
      const holder = queue.shift();
      if (holder !== undefined) this.lose(holder);
      if (queue.length === 0) this.queues.delete(key);
      else queue[0]?.start();
    }
  }

  protected lose({ lost }: Pick<Waiter, "lost">): void {
    lost.abort(new Error("the lease ended"));
  }

  protected putOrLeave(slot: Slot, token: string, entry: InboxEntry): void {
    try {
      this.parts?.put(slot, entry);
    } catch (error) {
      this.leave(slot, token);
      throw error;
    }
  }

  protected validUntil(slot: Slot, token: string): number {
    return this.holds(slot, token) ? Number.POSITIVE_INFINITY : 0;
  }

  protected mayDrop(slot: Slot, token: string): boolean {
    return this.holds(slot, token);
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
