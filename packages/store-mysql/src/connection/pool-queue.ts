import type { DriverPool } from "./mysql-pool.js";

/**
 * Order in which commands get a connection of a pool that has none left: first those that keep leases, which are short and of no
 * use when late, then those that save and end running calls, and last those that begin another call.
 *
 * Without it an overloaded node takes up new calls while those that run lose their leases, and gets nothing done.
 */
export type Precedence = "renewing" | "ending" | "usual" | "beginning";

const ORDER: readonly Precedence[] = ["renewing", "ending", "usual", "beginning"];

/** Longest queue of one precedence; commands of running calls are not counted, of which there are as many as calls. */
const MAX_WAITING = 10_000;

/** Gives back what {@link PoolQueue.enter} gave; idempotent. */
export type Leave = () => void;

/** Queues of the pools that are in use; parts that share a pool share its queue. */
const queues = new WeakMap<DriverPool, PoolQueue>();

/** Returns the queue of a pool. */
export function queueOf(pool: DriverPool): PoolQueue {
  const queue = queues.get(pool) ?? new PoolQueue(connectionLimit(pool));
  queues.set(pool, queue);
  return queue;
}

/** Queue in front of a pool: no more commands ask the pool for a connection than it has, so that none waits in the pool's own. */
export class PoolQueue {
  readonly #waiting: { readonly [precedence in Precedence]: Set<() => void> } = {
    renewing: new Set(),
    ending: new Set(),
    usual: new Set(),
    beginning: new Set(),
  };
  #free: number;

  /** @param size - number of connections of the pool; infinite when it is not known */
  constructor(size: number) {
    this.#free = size;
  }

  /**
   * Resolves when a connection may be taken; null when none could be by the deadline, or too many wait.
   *
   * @param deadline - on the clock of `performance.now()`
   */
  enter(precedence: Precedence, deadline: number): Promise<Leave | null> {
    if (this.#free > 0) return Promise.resolve(this.#take());
    const queue = this.#waiting[precedence];
    const isBounded = precedence === "usual" || precedence === "beginning";
    if (isBounded && queue.size >= MAX_WAITING) return Promise.resolve(null);
    return new Promise((resolve) => {
      const admit = (): void => {
        clearTimeout(timer);
        resolve(this.#take());
      };
      const giveUp = (): void => {
        queue.delete(admit);
        resolve(null);
      };
      const timer = setTimeout(giveUp, Math.max(deadline - performance.now(), 0));
      queue.add(admit);
    });
  }

  #take(): Leave {
    this.#free--;
    let isLeft = false;
    return () => {
      if (isLeft) return;
      isLeft = true;
      this.#free++;
      this.#admitNext();
    };
  }

  #admitNext(): void {
    for (const precedence of ORDER) {
      const queue = this.#waiting[precedence];
      for (const admit of queue) {
        queue.delete(admit);
        admit();
        return;
      }
    }
  }
}

function connectionLimit(pool: DriverPool): number {
  const { config } = pool as { readonly config?: { readonly connectionLimit?: unknown } };
  const limit = Number(config?.connectionLimit);
  return Number.isInteger(limit) && limit > 0 ? limit : Number.POSITIVE_INFINITY;
}
