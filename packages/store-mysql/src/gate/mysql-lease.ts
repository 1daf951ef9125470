import { LeaseLostError } from "@holdfast/core";
import {
  describeSlot,
  type Lease,
  type LoadedState,
  longestTimerMs,
} from "@holdfast/core/store-kit";
import type { Claim } from "./claim.js";

/** What a lease asks of its gate when it ends. */
export interface LeaseHost {
  readonly leaseMs: number;
  /** Ends it in the store. */
  release(lease: MysqlLease): Promise<void>;
  /** This process stops using it. */
  ended(lease: MysqlLease): void;
  /** Others may have the slot now. */
  freed(lease: MysqlLease): void;
}

/** A lease of this process. It counts as lost once no renewal has succeeded for as long as it lasts. */
export class MysqlLease implements Lease {
  readonly token: string;
  readonly claim: Claim;
  loaded: LoadedState | "unchanged" | null = null;
  /** The slot's row may hold nothing but the lease. */
  mayBeEmpty = false;
  /** A save that gives it back is under way: that it is no longer there does not mean that it was lost. */
  isReleasing = false;
  readonly #host: LeaseHost;
  readonly #lost = new AbortController();
  #expiry: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;
  #releasing: Promise<void> | undefined;

  constructor(claim: Claim, host: LeaseHost) {
    this.token = claim.token;
    this.claim = claim;
    this.#host = host;
    this.renewed(claim.seenAt);
  }

  get lost(): AbortSignal {
    // A process that stood still learns it here, also before its timers have run.
    this.#checkTime();
    return this.#lost.signal;
  }

  /** The store has it until `leaseMs` after this moment, at least. */
  renewed(sentAt: number): void {
    if (this.#isOver) return;
    this.claim.seenAt = sentAt;
    this.#schedule();
  }

  /** Somebody else has the slot, or may have it. */
  lose(how: "is another's now" | "could not be renewed in time"): void {
    if (!this.#end()) return;
    this.#host.freed(this);
    this.#lost.abort(
      new LeaseLostError(
        `the lease of ${describeSlot(this.claim.slot)} ${how}; another process may run the session`,
      ),
    );
  }

  /** A save gave it back. */
  released(): void {
    this.#releasing ??= Promise.resolve();
    if (this.#end()) this.#host.freed(this);
  }

  release(): Promise<void> {
    this.#end();
    this.#releasing ??= this.#host.release(this).finally(() => this.#host.freed(this));
    return this.#releasing;
  }

  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#expiry);
    this.#host.ended(this);
    return true;
  }

  #checkTime(): void {
    const isOverdue = performance.now() - this.claim.seenAt >= this.#host.leaseMs;
    if (isOverdue) this.lose("could not be renewed in time");
  }

  #schedule(): void {
    clearTimeout(this.#expiry);
    const leftMs = this.claim.seenAt + this.#host.leaseMs - performance.now();
    this.#expiry = setTimeout(
      () => {
        this.#checkTime();
        if (!this.#isOver) this.#schedule();
      },
      Math.min(Math.max(leftMs, 1), longestTimerMs),
    );
    this.#expiry.unref();
  }
}
