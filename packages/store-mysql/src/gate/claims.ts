import type { Claim } from "./claim.js";

/** Everything a gate of this process holds or waits for. */
export class Claims implements Iterable<Claim> {
  readonly #byToken = new Map<string, Claim>();
  readonly #holders = new Map<string, Claim>();
  /** Those that wait, in the order in which they joined. */
  readonly #lines = new Map<string, Claim[]>();
  /** Told what lay beside a ticket when its call got its turn; the signal bus sets it. */
  onSignals: ((claim: Claim, signals: Buffer) => void) | undefined;

  /** How many there are, for monitoring: 0 when every call has finished. */
  get size(): number {
    return this.#byToken.size;
  }

  [Symbol.iterator](): Iterator<Claim> {
    return this.#byToken.values();
  }

  find(token: string): Claim | undefined {
    return this.#byToken.get(token);
  }

  /** Whether a call of this process holds the slot or waits for it, so that a newcomer has to wait. */
  isTaken(key: string): boolean {
    return this.#holders.has(key) || this.#lines.has(key);
  }

  /** The slot's holder in this process. */
  holderOf(key: string): Claim | undefined {
    return this.#holders.get(key);
  }

  /** The claim waits. */
  joined(claim: Claim, ticket: number): void {
    claim.ticket = ticket;
    this.#byToken.set(claim.token, claim);
    const line = this.#lines.get(claim.key);
    if (line === undefined) this.#lines.set(claim.key, [claim]);
    else if (!line.includes(claim)) line.push(claim);
  }

  /** The claim holds its slot. */
  held(claim: Claim): void {
    claim.signalBytes = 0;
    this.#holders.set(claim.key, claim);
    this.#byToken.set(claim.token, claim);
    this.#leaveLine(claim);
  }

  /** Nothing is left of the claim. */
  ended(claim: Claim): void {
    if (this.#holders.get(claim.key) === claim) this.#holders.delete(claim.key);
    this.#byToken.delete(claim.token);
    this.#leaveLine(claim);
    this.wakeNext(claim.key);
  }

  /** Whether it is the first of this process's claims that wait: only that one looks whether its turn has come. */
  isFirst(claim: Claim): boolean {
    return this.#lines.get(claim.key)?.[0] === claim;
  }

  /** The slot may be free. */
  wakeNext(key: string): void {
    this.#lines.get(key)?.[0]?.alarm.ring();
  }

  #leaveLine(claim: Claim): void {
    claim.ticket = undefined;
    const line = this.#lines.get(claim.key);
    if (line === undefined) return;
    const rest = line.filter((other) => other !== claim);
    if (rest.length === 0) this.#lines.delete(claim.key);
    else this.#lines.set(claim.key, rest);
    if (line[0] === claim) this.wakeNext(claim.key);
  }
}
