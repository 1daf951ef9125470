import { SessionBusyError } from "../../errors/errors.js";
import { StoreUnavailableError, UnknownOutcomeError } from "../../errors/store-errors.js";
import { DEFAULT_MAX_QUEUE } from "../../in-memory/in-process-gate.js";
import type { AcquireRequest } from "../../ports/session-gate.js";
import { describeSlot } from "../../slot/slot.js";
import { Heartbeat } from "./heartbeat.js";
import type { Grant } from "./held-lease.js";
import type { Claim, EnterAnswer, LeaseBackend, SeenClaim } from "./lease-backend.js";
import { elapsedMs, type Moment, presentMoment } from "./moment.js";

/** Pause after a command that failed. */
const RETRY_MS = 200;

/** Parts of a gate that a ticket needs. */
export interface TicketSurroundings {
  /** Resolves when the backend's wake-ups reach {@link Ticket.wake}. */
  watch(): Promise<void>;
  /** Calls `onSilence` when the process of a claim has not been heard of for its time; returns the function that ends that. */
  watchNode(before: SeenClaim, onSilence: () => void): () => void;
  /** Tells whether the process of a claim is known to be silent. */
  isSilent(before: SeenClaim): boolean;
}

/**
 * Claim that waits for its turn: it asks the backend when it comes, when it is woken, when the claim before it may be gone,
 * and otherwise a third of `leaseMs` apart, which keeps its place, or eight times per `timeoutMs` of nodes that have heartbeats.
 *
 * - It watches the process of the claim before it, and takes that claim's place when the process is dead. One that may not wait
 *   does so when that is known already.
 * - A claim without a place is refused when the backend cannot be asked. One whose outcome is unknown is repeated until
 *   `commandTimeoutMs` has passed.
 * - A claim in the queue outlasts an outage of less than `leaseMs`, after which it would be passed over.
 */
export class Ticket {
  /** Rejects with the request's abort reason, `SessionBusyError`, `StoreUnavailableError`, or an error of the backend. */
  readonly turn: Promise<Grant>;
  readonly #claim: Claim;
  readonly #backend: LeaseBackend;
  readonly #request: AcquireRequest;
  readonly #surroundings: TicketSurroundings;
  readonly #heartbeat = new Heartbeat(() => this.#ask(), true);
  readonly #onAbort = (): void => void this.giveUp(this.#request.signal?.reason);
  #grant: (grant: Grant) => void = () => {};
  #refuse: (reason: unknown) => void = () => {};
  readonly #beganAt: Moment = presentMoment();
  /** Moment at which the last command that was answered with a place in the queue was sent. */
  #queuedAt: Moment | undefined;
  /** The claim before this one. */
  #before: SeenClaim | undefined;
  /** The same, once its process is dead. */
  #replaces: SeenClaim | undefined;
  #endNodeWatch: (() => void) | undefined;
  /** The backend may hold something of this claim. */
  #isSent = false;
  #isOver = false;

  constructor(
    claim: Claim,
    backend: LeaseBackend,
    request: AcquireRequest,
    surroundings: TicketSurroundings,
  ) {
    this.#claim = claim;
    this.#backend = backend;
    this.#request = request;
    this.#surroundings = surroundings;
    this.turn = new Promise((resolve, reject) => {
      this.#grant = resolve;
      this.#refuse = reject;
    });
    request.signal?.addEventListener("abort", this.#onAbort);
    void this.#heartbeat.poke();
  }

  /** Asks at once. */
  wake(): void {
    void this.#heartbeat.poke();
  }

  /** Ends the wait at once; resolves when the backend holds nothing more of the claim, or has been left to forget it. */
  async giveUp(reason: unknown): Promise<void> {
    if (this.#isOver) return;
    this.#end();
    this.#refuse(reason);
    // After the command under way, which may bring a place or the lease.
    await this.#heartbeat.stop();
    if (!this.#isSent) return;
    const { put } = this.#request;
    await this.#backend
      .leave(this.#claim, put === undefined ? [] : [put.id])
      .catch(() => undefined);
  }

  async #ask(): Promise<number> {
    const { wait = true, maxQueue = DEFAULT_MAX_QUEUE, known, put } = this.#request;
    const startedAt = performance.now();
    try {
      await this.#surroundings.watch();
      if (this.#isOver) return 0;
      const mode = this.#queuedAt !== undefined ? "again" : wait ? "queue" : "refuse";
      // Not earlier: a lease lasts from when it was asked for, however long it took to connect.
      const sentAt = presentMoment();
      const deadlineMs = this.#deadlineFrom(startedAt) - sentAt.monotonicMs;
      this.#isSent = true;
      const answer = await this.#backend.enter(this.#claim, {
        ...{ mode, maxQueue, known: known?.(), put, replaces: this.#replaces },
        deadlineMs: Math.max(deadlineMs, 1),
      });
      return this.#isOver ? 0 : this.#heed(answer, sentAt);
    } catch (error) {
      return this.#fail(error);
    }
  }

  /** All attempts of a claim that has no place yet share one deadline. */
  #deadlineFrom(startedAt: number): number {
    const from = this.#queuedAt === undefined ? this.#beganAt.monotonicMs : startedAt;
    return from + this.#backend.commandTimeoutMs;
  }

  #heed(answer: EnterAnswer, sentAt: Moment): number {
    if (answer.kind === "busy" && answer.before && this.#surroundings.isSilent(answer.before)) {
      this.#replaces = answer.before;
      this.wake();
      return 0;
    }
    if (answer.kind === "busy") {
      this.#isSent = false;
      void this.giveUp(this.#busy(answer.waiting));
      return 0;
    }
    if (answer.kind === "granted") {
      this.#end();
      this.#grant({ claim: this.#claim, answer, sentAt });
      return 0;
    }
    const isNew = this.#queuedAt === undefined;
    this.#queuedAt = sentAt;
    this.#watchBefore(answer.before);
    if (isNew) this.#request.onWait?.(answer.ahead);
    return Math.min(this.#askAgainMs(answer.before), Math.max(answer.dueMs, 0) + 1);
  }

  /**
   * Time until the next question, without a reason. A dead process is replaced a whole `timeoutMs` after its claim was seen as it
   * is, so that changes of a claim that can be replaced (it got its turn, its lease was renewed) must be seen soon.
   */
  #askAgainMs(before: SeenClaim | undefined): number {
    const { leaseMs, nodes } = this.#backend;
    return before && nodes ? Math.min(leaseMs / 3, nodes.timeoutMs / 8) : leaseMs / 3;
  }

  #watchBefore(before: SeenClaim | undefined): void {
    const { token, version } = this.#before ?? {};
    if (before?.token === token && before?.version === version) return;
    this.#endNodeWatch?.();
    this.#before = before;
    this.#replaces = undefined;
    this.#endNodeWatch =
      before &&
      this.#surroundings.watchNode(before, () => {
        this.#replaces = before;
        this.wake();
      });
  }

  #fail(error: unknown): number {
    if (this.#isOver) return 0;
    this.#watchBefore(undefined);
    if (this.#mayRepeatAfter(error)) return Math.min(RETRY_MS, this.#backend.leaseMs / 3);
    void this.giveUp(isTransient(error) ? this.#unavailable(error) : error);
    return 0;
  }

  #mayRepeatAfter(error: unknown): boolean {
    const { leaseMs, commandTimeoutMs } = this.#backend;
    if (this.#queuedAt !== undefined)
      return isTransient(error) && elapsedMs(this.#queuedAt) < leaseMs;
    const nextMs = elapsedMs(this.#beganAt) + RETRY_MS;
    return UnknownOutcomeError.is(error) && nextMs < commandTimeoutMs;
  }

  #end(): void {
    this.#isOver = true;
    this.#endNodeWatch?.();
    void this.#heartbeat.stop();
    this.#request.signal?.removeEventListener("abort", this.#onAbort);
  }

  #busy(waiting: number): SessionBusyError {
    const { wait = true, maxQueue = DEFAULT_MAX_QUEUE } = this.#request;
    const why = wait ? `at most ${maxQueue} may wait` : "this call may not wait";
    return new SessionBusyError(
      `${describeSlot(this.#claim.slot)} is running another call and ${waiting} wait for it; ${why}: try again later`,
    );
  }

  /** The call did not begin, whatever became of its place: nothing of it is in doubt. */
  #unavailable(cause: StoreUnavailableError | UnknownOutcomeError): StoreUnavailableError {
    const where = describeSlot(this.#claim.slot);
    const what = this.#queuedAt === undefined ? "queueing for" : "waiting for";
    // The backend's reason is worth more than that it failed; "may have been applied" is not true of a call.
    const reason = StoreUnavailableError.is(cause)
      ? withoutStart(cause.message, `queueing for ${where} failed: `)
      : "its store cannot be reached; try again later";
    return new StoreUnavailableError(`${what} ${where} failed: ${reason}`, { cause });
  }
}

function isTransient(error: unknown): error is StoreUnavailableError | UnknownOutcomeError {
  return StoreUnavailableError.is(error) || UnknownOutcomeError.is(error);
}

function withoutStart(text: string, start: string): string {
  return text.startsWith(start) ? text.slice(start.length) : text;
}
