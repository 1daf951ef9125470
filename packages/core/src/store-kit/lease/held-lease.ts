import { LeaseLostError, UnknownOutcomeError } from "../../errors/store-errors.js";
import type { LoadAnswer } from "../../ports/agent-state-store.js";
import type { InboxEntry } from "../../ports/inbox.js";
import type { Lease } from "../../ports/session-gate.js";
import { describeSlot } from "../../slot/slot.js";
import { sleep } from "../deadline.js";
import { Heartbeat } from "./heartbeat.js";
import type { Claim, EnterAnswer, LeaseBackend } from "./lease-backend.js";
import { elapsedMs, type Moment, presentMoment } from "./moment.js";

/** Pause after a renewal that failed. */
const RETRY_MS = 200;

/** A granted claim, and the moment at which the command that was answered so had been sent. */
export interface Grant {
  readonly claim: Claim;
  readonly answer: Extract<EnterAnswer, { kind: "granted" }>;
  readonly sentAt: Moment;
}

/**
 * Lease on a slot, kept by heartbeats a third of `leaseMs` apart.
 *
 * `lost` aborts when the backend says that the slot is another claim's, and when no heartbeat was answered for `leaseMs`,
 * counted from when it was sent: the backend may have given the slot away by then. A process that stood still, or whose
 * machine was suspended, learns it no later than when it looks at `lost`.
 *
 * Where the backend knows nodes, a lease is in doubt once neither it nor its node was confirmed for `timeoutMs`: the process may
 * have been taken for dead. A heartbeat of the node that is answered later does not help, as a waiter may have acted
 * meanwhile; only renewing the lease itself does.
 */
export class HeldLease implements Lease {
  readonly token: string;
  readonly loaded: LoadAnswer | undefined;
  readonly inbox: readonly InboxEntry[] | undefined;
  readonly #claim: Claim;
  readonly #backend: LeaseBackend;
  readonly #onEnd: () => void;
  readonly #lost = new AbortController();
  readonly #heartbeat = new Heartbeat(() => this.#renew());
  readonly #sureMs: number;
  #renewedAt: Moment;
  /** When the last command was sent that keeps the lease out of doubt for another `#sureMs`. */
  #sureAt: Moment;
  #isReleasing = false;
  #isOver = false;
  #released: Promise<void> | undefined;

  /** @param onEnd - called once when the lease is over, released or lost */
  constructor({ claim, answer, sentAt }: Grant, backend: LeaseBackend, onEnd: () => void) {
    this.token = claim.token;
    this.loaded = answer.loaded;
    this.inbox = answer.inbox;
    this.#claim = claim;
    this.#backend = backend;
    this.#onEnd = onEnd;
    this.#sureMs = backend.nodes?.timeoutMs ?? backend.leaseMs;
    this.#renewedAt = sentAt;
    this.#sureAt = sentAt;
    this.#heartbeat.schedule(backend.leaseMs / 3);
  }

  get lost(): AbortSignal {
    this.#checkTime();
    return this.#lost.signal;
  }

  get validUntil(): number {
    if (this.#lost.signal.aborted) return 0;
    return Date.now() + this.#sureMs - elapsedMs(this.#sureAt);
  }

  async confirm(): Promise<void> {
    while (!this.#checkTime() && this.#isInDoubt()) {
      await this.#heartbeat.poke();
      if (this.#isInDoubt()) await sleep(RETRY_MS);
    }
    this.#lost.signal.throwIfAborted();
  }

  /** Takes in that a heartbeat of the node, sent at this moment, has been acknowledged. */
  wasBeat(sentAt: Moment): void {
    if (this.#isInDoubt()) this.wake();
    else this.#sureSince(sentAt);
  }

  release(drop: readonly string[] = []): Promise<void> {
    this.#released ??= this.#giveBack(drop);
    return this.#released;
  }

  /** Renews at once. */
  wake(): void {
    void this.#heartbeat.poke();
  }

  /** Runs a save that releases the lease: that the backend has it no more does not mean that it was lost. */
  async whileReleasing<T>(save: () => Promise<T>): Promise<T> {
    const sentAt = performance.now();
    this.#isReleasing = true;
    try {
      const result = await save();
      this.wasReleased(sentAt);
      return result;
    } catch (error) {
      this.#isReleasing = UnknownOutcomeError.is(error);
      throw error;
    }
  }

  /** Ends the lease, which a save sent at `sentAt` has released, on the clock of `performance.now()`. */
  wasReleased(sentAt: number): void {
    this.#end();
    // A renewal that arrived behind the save may have taken the lease again.
    if (this.#heartbeat.wasBusySince(sentAt)) void this.release();
    else this.#released ??= this.#heartbeat.stop();
  }

  /** Ends the lease without giving it back: nothing keeps it any more. */
  abandon(): void {
    this.#lose("its gate was closed");
  }

  async #renew(): Promise<number> {
    const { leaseMs, commandTimeoutMs } = this.#backend;
    if (this.#checkTime()) return 0;
    const sentAt = presentMoment();
    const leftMs = leaseMs - elapsedMs(this.#renewedAt);
    let isKept = false;
    try {
      isKept = await this.#backend.renew(this.#claim, Math.min(leftMs, commandTimeoutMs));
      if (isKept) this.#renewedAt = sentAt;
      if (isKept) this.#sureSince(sentAt);
      else if (!this.#isReleasing) this.#lose("another call has the session");
    } catch {
      // Repeated until the lease has run out.
    }
    if (this.#checkTime()) return 0;
    return isKept ? leaseMs / 3 : Math.min(RETRY_MS, leaseMs / 3);
  }

  #sureSince(sentAt: Moment): void {
    if (elapsedMs(sentAt) < elapsedMs(this.#sureAt)) this.#sureAt = sentAt;
  }

  #isInDoubt(): boolean {
    return !this.#isOver && elapsedMs(this.#sureAt) >= this.#sureMs;
  }

  /** Ends a lease that has run out; returns whether it is over. */
  #checkTime(): boolean {
    const { leaseMs } = this.#backend;
    if (!this.#isOver && elapsedMs(this.#renewedAt) >= leaseMs)
      this.#lose(`this process could not renew it for ${leaseMs} ms`);
    return this.#isOver;
  }

  async #giveBack(drop: readonly string[]): Promise<void> {
    this.#end();
    await this.#heartbeat.stop();
    try {
      await this.#backend.leave(this.#claim, drop);
    } catch {
      // It runs out, as nothing renews it; others wait until then.
    }
  }

  #lose(why: string): void {
    if (this.#isOver) return;
    this.#end();
    const where = describeSlot(this.#claim.slot);
    this.#lost.abort(
      new LeaseLostError(
        `the lease on ${where} ended before its call did: ${why}; repeat the call`,
      ),
    );
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    void this.#heartbeat.stop();
    this.#onEnd();
  }
}
