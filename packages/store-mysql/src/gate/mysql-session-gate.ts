import { InvalidIdError, type SessionGate, type Slot } from "@holdfast/core";
import {
  type AcquireRequest,
  type InboxEntry,
  type Lease,
  LeaseGate,
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
import type { Claims } from "./claims.js";
import { MysqlLeaseBackend } from "./mysql-lease-backend.js";

/** Options of {@link MysqlSessionGate}. */
export interface MysqlSessionGateOptions
  extends MysqlPartOptions,
    Pick<MysqlLeaseOptions, "leaseMs" | "nodeTimeoutMs"> {}

/** Size of the columns for call ids. */
const MAX_CALL_ID_BYTES = 3_072;

/**
 * Serialises calls on a slot over any number of nodes, and brings the state and the inbox along with the lease.
 *
 * Contract, beyond {@link SessionGate}'s:
 * - The lease is in the slot's row and lasts `leaseMs` by the server's clock, renewed every third of it. A holder that
 *   could not renew it for that long by its own clocks counts it as lost.
 * - Calls of all nodes are served in the order in which they joined the queue; those not heard of for `leaseMs` are passed
 *   over. A process not heard of for `nodeTimeoutMs` gives way to those that wait behind it, by the clocks of these.
 * - A free slot takes one statement, which also puts the inbox entry and says whether the known revision is current, and one
 *   more to load the state or entries of others.
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
  /** @internal Claims of this process. */
  readonly claims: Claims;
  readonly #gate: LeaseGate;

  /**
   * @param database - where several parts share one
   * @throws ConfigurationError
   */
  constructor(options: MysqlSessionGateOptions, database?: Database) {
    const accepted = leaseOptions.filter((name) => name !== "signalPollMs");
    const resolved = readOptions("MysqlSessionGate", options, accepted);
    this.leaseMs = resolved.leaseMs;
    const { leaseMs, nodeTimeoutMs } = resolved;
    const backend = new MysqlLeaseBackend(
      database ?? openDatabase(resolved),
      leaseMs,
      nodeTimeoutMs,
    );
    this.claims = backend.claims;
    this.#gate = new LeaseGate(backend);
  }

  async acquire(slot: Slot, request: AcquireRequest): Promise<Lease> {
    checkCallId(request.callId);
    // A copy: changing the caller's entry afterwards has no effect.
    const put = request.put && (JSON.parse(JSON.stringify(request.put)) as InboxEntry);
    return this.#gate.acquire(slot, { ...request, put });
  }

  calls(slot: Slot): Promise<readonly string[]> {
    return this.#gate.calls(slot);
  }

  /** Ends all timers; calls that wait are refused. */
  close(): Promise<void> {
    return this.#gate.close();
  }

  /** @internal Runs a save that releases this lease. */
  async whileReleasing<T>(token: string, save: () => Promise<T>): Promise<T> {
    const claim = this.claims.find(token);
    const result = await this.#gate.whileReleasing(token, save);
    // Once the caller knows the new revision: the next call then need not load what this one saved.
    if (claim !== undefined) setImmediate(() => this.claims.wakeNext(claim.key));
    return result;
  }

  /** @internal The state of a slot was deleted: where a call of this process holds it, its row may go with the lease. */
  stateDeleted(slot: Slot): void {
    const holder = this.claims.holderOf(slotText(slot));
    if (holder !== undefined) holder.mayBeEmpty = true;
  }
}

/** @throws InvalidIdError */
function checkCallId(callId: unknown): void {
  if (typeof callId !== "string" || callId === "")
    throw new InvalidIdError("callId must be a non-empty string");
  const bytes = Buffer.byteLength(callId, "utf8");
  if (bytes > MAX_CALL_ID_BYTES)
    throw new InvalidIdError(
      `callId has ${bytes} bytes in UTF-8; at most ${MAX_CALL_ID_BYTES} are accepted`,
    );
}
