import type { LocalClaim } from "./local-claim.js";

/** Claims of this process: those that hold a slot, and those that wait, in order. */
export class Claims implements Iterable<LocalClaim> {
  readonly #byToken = new Map<string, { claim: LocalClaim; wake: () => void }>();
  readonly #holders = new Map<string, LocalClaim>();
  readonly #queues = new Map<string, LocalClaim[]>();
  /** Called with the signals that lay beside a place in the queue when its turn came; set by the signal bus. */
  onSignals: ((claim: LocalClaim, signals: Buffer) => void) | undefined;

  /** Number of claims, for monitoring: 0 when every call has finished. */
  get size(): number {
    return this.#byToken.size;
  }

  *[Symbol.iterator](): Iterator<LocalClaim> {
    for (const { claim } of this.#byToken.values()) yield claim;
  }

  find(token: string): LocalClaim | undefined {
    return this.#byToken.get(token)?.claim;
  }

  /** Tells whether a call of this process holds the slot or waits for it, so that a newcomer has to wait. */
  isTaken(key: string): boolean {
    return this.#holders.has(key) || this.#queues.has(key);
  }

  /** Returns the claim of this process that holds a slot. */
  holderOf(key: string): LocalClaim | undefined {
    return this.#holders.get(key);
  }

  /** Adds a claim that neither holds nor waits yet; `wake` makes it ask for its turn. */
  add(claim: LocalClaim, wake: () => void): void {
    this.#byToken.set(claim.token, { claim, wake });
  }

  /** Puts a claim behind those that wait. */
  joined(claim: LocalClaim, ticket: number): void {
    claim.ticket = ticket;
    claim.renewedAt = performance.now();
    const queue = this.#queues.get(claim.key);
    if (queue === undefined) this.#queues.set(claim.key, [claim]);
    else if (!queue.includes(claim)) queue.push(claim);
  }

  /** Makes a claim the holder of its slot. */
  held(claim: LocalClaim): void {
    claim.ticket = undefined;
    claim.signalBytes = 0;
    this.leftQueue(claim);
    this.#holders.set(claim.key, claim);
  }

  /** Removes a claim. */
  remove(claim: LocalClaim): void {
    if (this.#holders.get(claim.key) === claim) this.#holders.delete(claim.key);
    this.#byToken.delete(claim.token);
    this.leftQueue(claim);
  }

  /** Tells whether a claim is the first of this process's that wait: only that one polls. */
  isFirst(claim: LocalClaim): boolean {
    return this.#queues.get(claim.key)?.[0] === claim;
  }

  /** Wakes the first that waits for a slot, which may be free. */
  wakeNext(key: string): void {
    const [next] = this.#queues.get(key) ?? [];
    if (next !== undefined) this.#byToken.get(next.token)?.wake();
  }

  /** Takes a claim out of those that wait, if it is there. */
  leftQueue(claim: LocalClaim): void {
    const queue = this.#queues.get(claim.key);
    if (queue === undefined || !queue.includes(claim)) return;
    const rest = queue.filter((other) => other !== claim);
    if (rest.length === 0) this.#queues.delete(claim.key);
    else this.#queues.set(claim.key, rest);
    if (queue[0] === claim) this.wakeNext(claim.key);
  }
}
