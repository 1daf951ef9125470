import {
  InvalidIdError,
  type SessionGate,
  type Slot,
  StoreError,
  StoreUnavailableError,
  UnknownOutcomeError,
} from "@holdfast/core";
import {
  type AcquireRequest,
  checkSlot,
  DEFAULT_MAX_QUEUE,
  describeSlot,
  type Lease,
  slotText,
} from "@holdfast/core/store-kit";
import type { Database } from "../connection/database.js";
import { openDatabase } from "../connection/open-database.js";
import {
  leaseOptions,
  type MysqlLeaseOptions,
  type MysqlPartOptions,
  readOptions,
} from "../options.js";
import { loadState } from "../state/load-state.js";
import { Claim } from "./claim.js";
import { Claims } from "./claims.js";
import { Heartbeat } from "./heartbeat.js";
import { LeaseRow } from "./lease-row.js";
import { MysqlLease } from "./mysql-lease.js";
import { type Taken, Turns } from "./turns.js";
import { untilAborted } from "./until-aborted.js";
import { WaitingLine } from "./waiting-line.js";

/** How a {@link MysqlSessionGate} is set up. */
export interface MysqlSessionGateOptions
  extends MysqlPartOptions,
    Pick<MysqlLeaseOptions, "leaseMs"> {}

/** What the columns for call ids hold. */
const MAX_CALL_ID_BYTES = 3_072;

/**
 * Serialises calls on a slot over any number of nodes, and brings the state along with the lease.
 *
 * Contract, beyond {@link SessionGate}'s:
 * - The lease is in the slot's row and lasts `leaseMs` by the server's clock, renewed every third of it. A holder that
 *   could not renew it for that long by its own clock counts it as lost.
 * - Calls of all nodes are served in the order in which they joined the line; those not heard of for `leaseMs` are passed
 *   over.
 * - A free slot takes one statement, which also says whether the known revision is current, and one more to load.
 * - Constructing does no I/O. After `close` nothing is renewed any more and leases end by themselves.
 *
 * @example
 * const gate = new MysqlSessionGate({ pool });
 */
export class MysqlSessionGate implements SessionGate {
  readonly contract = 1;
  readonly kind = "mysql";
  readonly reach = "distributed";
  readonly leaseMs: number;
  /** @internal What this process holds and waits for. */
  readonly claims: Claims = new Claims();
  readonly #database: Database;
  readonly #rows: LeaseRow;
  readonly #line: WaitingLine;
  readonly #turns: Turns;
  readonly #leases = new Map<string, MysqlLease>();
  readonly #heartbeat: Heartbeat<Claim>;
  #sweptAt = 0;
  #isClosed = false;

  /**
   * @param database - where several parts share one
   * @throws ConfigurationError
   */
  constructor(options: MysqlSessionGateOptions, database?: Database) {
    const accepted = leaseOptions.filter((name) => name !== "signalPollMs");
    const resolved = readOptions("MysqlSessionGate", options, accepted);
    this.leaseMs = resolved.leaseMs;
    this.#database = database ?? openDatabase(resolved);
    this.#rows = new LeaseRow(this.#database, this.leaseMs);
    this.#line = new WaitingLine(this.#database, this.leaseMs);
    this.#heartbeat = new Heartbeat(this.leaseMs / 3, (claim) => this.#giveSign(claim));
    this.#turns = new Turns({
      rows: this.#rows,
      line: this.#line,
      claims: this.claims,
      leaseMs: this.leaseMs,
      commandTimeoutMs: this.#database.commandTimeoutMs,
      onJoin: (claim) => {
        this.#heartbeat.add(claim);
        this.#sweep();
      },
    });
  }

  async acquire(slot: Slot, request: AcquireRequest): Promise<Lease> {
    const owner = checkSlot(slot);
    const { signal } = request;
    signal?.throwIfAborted();
    const claim = new Claim(owner, checkCallId(request.callId));
    const entering = this.#enter(claim, request);
    return untilAborted(entering, signal, () => {
      claim.alarm.ring();
      entering.then((lease) => lease.release()).catch(() => undefined);
    });
  }

  async calls(slot: Slot): Promise<readonly string[]> {
    return this.#line.calls(checkSlot(slot));
  }

  /** Ends all timers; who waits is refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#heartbeat.close();
    for (const claim of this.claims) claim.alarm.ring();
  }

  /** @internal Runs a save that gives this lease back. */
  async whileReleasing<T>(token: string, save: () => Promise<T>): Promise<T> {
    const lease = this.#leases.get(token);
    if (lease === undefined) return save();
    lease.isReleasing = true;
    try {
      const result = await save();
      lease.released();
      return result;
    } catch (error) {
      // It may have been given back all the same, which is not the same as lost.
      lease.isReleasing = UnknownOutcomeError.is(error);
      throw error;
    }
  }

  /** @internal The state of a slot was deleted: where a call here holds it, its row may go with the lease. */
  stateDeleted(slot: Slot): void {
    const holder = this.claims.holderOf(slotText(slot));
    const lease = holder && this.#leases.get(holder.token);
    if (lease !== undefined) lease.mayBeEmpty = true;
  }

  async #enter(claim: Claim, request: AcquireRequest): Promise<MysqlLease> {
    const { wait = true, maxQueue = DEFAULT_MAX_QUEUE, onWait, signal } = request;
    let taken: Taken;
    try {
      taken = await this.#turns.take(claim, {
        wait,
        maxQueue,
        known: () => request.known?.(),
        onWait: (ahead) => onWait?.(ahead),
        check: () => {
          signal?.throwIfAborted();
          if (this.#isClosed) throw closed(claim.slot);
        },
      });
    } catch (error) {
      const leaving = this.#abandon(claim, error);
      // A store that does not answer is not waited for once more.
      if (!StoreError.is(error) || this.#isClosed) await leaving;
      throw error;
    }
    const lease = this.#hold(claim);
    if (claim.signals !== undefined) this.claims.onSignals?.(claim, claim.signals);
    if (taken === "new") lease.mayBeEmpty = true;
    else if (taken === "current") lease.loaded = "unchanged";
    else await this.#load(lease, request);
    return lease;
  }

  #hold(claim: Claim): MysqlLease {
    const lease = new MysqlLease(claim, {
      leaseMs: this.leaseMs,
      release: (ended) => this.#rows.release(ended.claim, ended.mayBeEmpty),
      ended: (ended) => {
        this.#heartbeat.remove(ended.claim);
        this.#leases.delete(ended.token);
      },
      freed: (ended) => this.claims.ended(ended.claim),
    });
    this.#leases.set(claim.token, lease);
    this.claims.held(claim);
    this.#heartbeat.add(claim);
    return lease;
  }

  async #load(lease: MysqlLease, { known }: AcquireRequest): Promise<void> {
    try {
      lease.loaded = await loadState(this.#database, lease.claim.slot, known?.());
      lease.mayBeEmpty = lease.loaded === null;
    } catch (error) {
      lease.release().catch(() => undefined);
      throw error;
    }
  }

  /** Takes back what a claim that failed has left, or may have left. */
  async #abandon(claim: Claim, error: unknown): Promise<void> {
    const hasJoined = this.claims.find(claim.token) !== undefined;
    this.#heartbeat.remove(claim);
    this.claims.ended(claim);
    try {
      if (hasJoined || UnknownOutcomeError.is(error)) await this.#line.leave(claim);
      if (UnknownOutcomeError.is(error)) await this.#rows.release(claim, true);
    } catch {
      // What is left ends by itself: nobody gives signs of life for it.
    }
    // Only now the ticket is gone.
    this.claims.wakeNext(claim.key);
  }

  async #giveSign(claim: Claim): Promise<void> {
    const sentAt = performance.now();
    const lease = this.#leases.get(claim.token);
    try {
      if (lease === undefined) {
        if (claim.ticket !== undefined && (await this.#line.renew(claim))) claim.seenAt = sentAt;
      } else if (await this.#rows.renew(claim)) lease.renewed(sentAt);
      else if (!lease.isReleasing) lease.lose("is another's now");
    } catch {
      // The next one may get through; if none does, time tells.
    }
  }

  /** Now and then, beside the call's own work. */
  #sweep(): void {
    const now = performance.now();
    if (this.#sweptAt > 0 && now - this.#sweptAt < this.leaseMs) return;
    this.#sweptAt = now;
    this.#line.sweep().catch(() => undefined);
  }
}

/** @throws InvalidIdError */
function checkCallId(callId: unknown): string {
  if (typeof callId !== "string" || callId === "")
    throw new InvalidIdError("callId must be a non-empty string");
  const bytes = Buffer.byteLength(callId, "utf8");
  if (bytes > MAX_CALL_ID_BYTES)
    throw new InvalidIdError(
      `callId has ${bytes} bytes in UTF-8; at most ${MAX_CALL_ID_BYTES} are accepted`,
    );
  return callId;
}

function closed(slot: Slot): StoreUnavailableError {
  return new StoreUnavailableError(
    `${describeSlot(slot)} was not acquired: the gate is closed. Send the call to another process`,
  );
}
