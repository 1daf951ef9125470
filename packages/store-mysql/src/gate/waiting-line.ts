import { SessionBusyError, type Slot } from "@holdfast/core";
import { describeSlot } from "@holdfast/core/store-kit";
import { asNumber, asText } from "../connection/cells.js";
import type { Database } from "../connection/database.js";
import { slotHash } from "../keys.js";
import { deleteEmptyRow } from "../state/state-row.js";
import type { Claim } from "./claim.js";

/** How many may wait. */
export interface LineLimits {
  readonly wait: boolean;
  readonly maxQueue: number;
}

/** Where a call stands. */
export interface Standing {
  /** Somebody has the lease. */
  readonly isHeld: boolean;
  /** It has the lease itself: it took it, and the answer was lost. */
  readonly hasTurn: boolean;
  /** Calls that wait before it and are alive. */
  readonly ahead: number;
  /** The same behind it. */
  readonly behind: number;
  /** How often anybody has joined since the line was empty. */
  readonly joins: number;
}

const ALIVE = "kind = 'waiter' AND alive_until > UTC_TIMESTAMP(6)";
const HELD = "COALESCE(lease_until > UTC_TIMESTAMP(6), 0)";
/** Rows of processes that died are passed over at once, and removed when that is long ago. */
const SWEEP_AFTER_SECONDS = 60;
const SWEPT_AT_ONCE = 100;

/**
 * Calls that wait, of all processes: rows numbered by the server. Who joins or leaves holds the slot's row meanwhile, so
 * that the numbers of a slot are in the order of joining.
 */
export class WaitingLine {
  readonly #database: Database;
  readonly #aliveMicros: number;

  constructor(database: Database, leaseMs: number) {
    this.#database = database;
    this.#aliveMicros = leaseMs * 1_000;
  }

  /**
   * Joins the line and returns the number of calls before this one; null when the slot has no row.
   *
   * @throws SessionBusyError when it may not wait, or not with so many
   */
  join(claim: Claim, limits: LineLimits): Promise<{ ticket: number; ahead: number } | null> {
    const { slots, waiters } = this.#database.tables;
    return this.#database.transaction(`queueing for ${describeSlot(claim.slot)}`, async (tx) => {
      const row = await tx.write(`UPDATE ${slots} SET waiting = waiting + 1 WHERE k = ?`, [
        claim.k,
      ]);
      if (row.affectedRows === 0) return null;
      const [counts = []] = await tx.read(
        `SELECT ${HELD}, (SELECT COUNT(*) FROM ${waiters} WHERE k = ? AND ${ALIVE}), (SELECT MAX(id) FROM ${waiters} WHERE k = ? AND token = ?) FROM ${slots} WHERE k = ?`,
        [claim.k, claim.k, claim.tokenBytes, claim.k],
      );
      const [held, waiting, before] = counts.map(asNumber);
      const ahead = (held ?? 0) + (waiting ?? 0);
      // Joined before, and the answer was lost.
      if (before !== undefined && before > 0) return { ticket: before, ahead: ahead - 1 };
      const mayWait = limits.wait && (waiting ?? 0) < limits.maxQueue;
      if (ahead > 0 && !mayWait) throw sessionBusy(claim.slot, limits, waiting ?? 0);
      const { insertId } = await tx.write(
        `INSERT INTO ${waiters} (k, kind, token, call_id, alive_until) VALUES (?, 'waiter', ?, ?, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND)`,
        [claim.k, claim.tokenBytes, claim.callIdBytes, this.#aliveMicros],
      );
      return { ticket: insertId, ahead };
    });
  }

  /** Where the claim stands; null when its ticket or the slot's row is gone. */
  async look(claim: Claim): Promise<Standing | null> {
    const { slots, waiters } = this.#database.tables;
    const ticket = claim.ticket ?? 0;
    const [row] = await this.#database.read(
      `queueing for ${describeSlot(claim.slot)}`,
      `SELECT ${HELD}, COALESCE(lease_token = ?, 0), waiting, (SELECT COUNT(*) FROM ${waiters} WHERE k = ? AND id < ? AND ${ALIVE}),
(SELECT COUNT(*) FROM ${waiters} WHERE k = ? AND id > ? AND ${ALIVE}), (SELECT COUNT(*) FROM ${waiters} WHERE id = ?)
FROM ${slots} WHERE k = ?`,
      [claim.tokenBytes, claim.k, ticket, claim.k, ticket, ticket, claim.k],
    );
    const [held, mine, joins = 0, ahead = 0, behind = 0, own] = (row ?? []).map(asNumber);
    const hasTurn = mine === 1;
    return hasTurn || own === 1 ? { isHeld: held === 1, hasTurn, joins, ahead, behind } : null;
  }

  /** Whether the ticket is still there. */
  async renew(claim: Claim): Promise<boolean> {
    const { affectedRows } = await this.#database.write(
      `queueing for ${describeSlot(claim.slot)}`,
      `UPDATE ${this.#database.tables.waiters} SET alive_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND WHERE id = ?`,
      [this.#aliveMicros, claim.ticket ?? 0],
    );
    return affectedRows > 0;
  }

  /** Gives the ticket back; the last to leave takes the slot's row along if it holds nothing else. */
  leave(claim: Claim): Promise<void> {
    const { slots, waiters } = this.#database.tables;
    const what = `leaving the queue for ${describeSlot(claim.slot)}`;
    return this.#database.transaction(what, async (tx) => {
      await tx.read(`SELECT waiting FROM ${slots} WHERE k = ? FOR UPDATE`, [claim.k]);
      // By token: where the answer to joining was lost, the number is not known.
      const rows = await tx.read(
        `SELECT id, token FROM ${waiters} WHERE k = ? AND kind = 'waiter'`,
        [claim.k],
      );
      const own = rows.filter(([, token]) => asText(token) === claim.token);
      for (const [id] of own) await tx.write(`DELETE FROM ${waiters} WHERE id = ?`, [asNumber(id)]);
      if (rows.length > own.length) return;
      await tx.write(`UPDATE ${slots} SET waiting = 0 WHERE k = ?`, [claim.k]);
      await tx.write(deleteEmptyRow(this.#database.tables), [claim.k]);
    });
  }

  /** Ids of the calls on a slot: the holder's, then those that wait. */
  async calls(slot: Slot): Promise<readonly string[]> {
    const { slots, waiters } = this.#database.tables;
    const k = slotHash(slot);
    const rows = await this.#database.read(
      `listing the calls on ${describeSlot(slot)}`,
      `SELECT 0, lease_call FROM ${slots} WHERE k = ? AND lease_until > UTC_TIMESTAMP(6)
UNION ALL SELECT id, call_id FROM ${waiters} WHERE k = ? AND ${ALIVE}`,
      [k, k],
    );
    return rows
      .map(([id, callId]) => ({ id: asNumber(id), callId: asText(callId) }))
      .sort((a, b) => a.id - b.id)
      .map(({ callId }) => callId);
  }

  /** Removes what processes that died have left in any line. */
  async sweep(): Promise<void> {
    await this.#database.write(
      "removing tickets of calls that ended",
      `DELETE FROM ${this.#database.tables.waiters} WHERE alive_until < UTC_TIMESTAMP(6) - INTERVAL ${SWEEP_AFTER_SECONDS} SECOND ORDER BY alive_until, id LIMIT ${SWEPT_AT_ONCE}`,
    );
  }
}

/** The error of a call that may not wait, or not with so many. */
export function sessionBusy(slot: Slot, { wait, maxQueue }: LineLimits, waiting: number): Error {
  return new SessionBusyError(
    `${describeSlot(slot)} is running another call and ${waiting} wait for it; ${
      wait ? `at most ${maxQueue} may wait` : "this call may not wait"
    }: try again later`,
  );
}
