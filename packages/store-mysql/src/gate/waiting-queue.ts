import type { Slot } from "@holdfast/core";
import { describeSlot, type SeenCall, type SeenClaim } from "@holdfast/core/store-kit";
import { asNumber, asNumberOrZero, asText, asTextOrNull, type Cell } from "../connection/cells.js";
import type { Database } from "../connection/database.js";
import { slotHash } from "../keys.js";
import { deleteEmptyRow, LEASE_VERSION } from "../state/state-row.js";
import type { LocalClaim } from "./local-claim.js";

/** Position of a waiting call. */
export interface Standing {
  /** The slot has a holder. */
  readonly isHeld: boolean;
  /** The call is the holder itself: it took the slot, and the answer was lost. */
  readonly hasTurn: boolean;
  /** Number of calls that wait before it and are alive. */
  readonly ahead: number;
  /** Number of those behind it. */
  readonly behind: number;
  /** Number of calls that have joined since the queue was empty. */
  readonly joins: number;
  /** The claim just before it: one that waits, or the holder. */
  readonly before: SeenClaim | undefined;
}

/** Condition for places of calls that have been heard of. */
export const ALIVE = "kind = 'waiter' AND alive_until > UTC_TIMESTAMP(6)";
/** Expression that is 1 while the slot has a holder. */
export const HELD = "COALESCE(lease_until > UTC_TIMESTAMP(6), 0)";
/** Column `alive_until` as the version of a claim that waits. */
const VERSION = "CAST(alive_until AS CHAR)";
const WAITER = `CONCAT(token, ' ', ${VERSION})`;
/** Expression for the claim of the holder, as {@link seenClaim} reads it. */
export const HOLDER: string = `CONCAT(lease_holder, ' ', ${LEASE_VERSION})`;
/** Rows of processes that died are passed over at once, and removed when that is long ago. */
const SWEEP_AFTER_SECONDS = 60;
const SWEPT_AT_ONCE = 100;

/**
 * Waiting calls of all processes: rows numbered by the server. Calls that join or leave hold the slot's row meanwhile, so that
 * the numbers of a slot are in the order of joining.
 */
export class WaitingQueue {
  readonly #aliveMicros: number;

  constructor(leaseMs: number) {
    this.#aliveMicros = leaseMs * 1_000;
  }

  /** Returns the position of a claim; null when its place or the slot's row is gone. */
  async look(database: Database, claim: LocalClaim): Promise<Standing | null> {
    const { slots, waiters } = database.tables;
    const ticket = claim.ticket ?? 0;
    const [row] = await database.read(
      queueing(claim),
      `SELECT ${HELD}, COALESCE(lease_holder = ?, 0), waiting, (SELECT COUNT(*) FROM ${waiters} WHERE k = ? AND id < ? AND ${ALIVE}),
(SELECT COUNT(*) FROM ${waiters} WHERE k = ? AND id > ? AND ${ALIVE}), (SELECT COUNT(*) FROM ${waiters} WHERE id = ?),
(SELECT ${WAITER} FROM ${waiters} WHERE k = ? AND id < ? AND ${ALIVE} ORDER BY id DESC LIMIT 1), ${HOLDER}
FROM ${slots} WHERE k = ?`,
      [
        ...[claim.tokenBytes, claim.k, ticket, claim.k, ticket, ticket],
        ...[claim.k, ticket, claim.k],
      ],
    );
    const counts = (row ?? []).slice(0, 6).map(asNumberOrZero);
    const [held, mine, joins = 0, ahead = 0, behind = 0, own] = counts;
    const [hasTurn, isHeld] = [mine === 1, held === 1];
    if (!hasTurn && own !== 1) return null;
    const before = seenClaim(ahead > 0 ? row?.[6] : isHeld ? row?.[7] : null);
    return { isHeld, hasTurn, joins, ahead, behind, before };
  }

  /** Removes the place of a claim whose process is dead, unless it was kept since it was seen. */
  async remove(database: Database, claim: LocalClaim, dead: SeenClaim): Promise<void> {
    await database.write(
      queueing(claim),
      `DELETE FROM ${database.tables.waiters} WHERE k = ? AND token = ? AND ${VERSION} = ?`,
      [claim.k, Buffer.from(dead.token, "utf8"), dead.version],
    );
  }

  /** Keeps the place of a claim for as long as a lease; false when it is gone. */
  async renew(database: Database, claim: LocalClaim): Promise<boolean> {
    const { affectedRows } = await database.write(
      queueing(claim),
      `UPDATE ${database.tables.waiters} SET alive_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND WHERE id = ?`,
      [this.#aliveMicros, claim.ticket ?? 0],
    );
    return affectedRows > 0;
  }

  /** Gives the place of a claim back; the last to leave takes the slot's row along if it holds nothing else. */
  leave(database: Database, claim: LocalClaim): Promise<void> {
    const { slots, waiters } = database.tables;
    const what = `leaving the queue for ${describeSlot(claim.slot)}`;
    return database.transaction(what, async (tx) => {
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
      await tx.write(deleteEmptyRow(database.tables), [claim.k]);
    });
  }

  /** Returns the calls on a slot: the holder's, then those that wait. */
  async calls(database: Database, slot: Slot): Promise<readonly SeenCall[]> {
    const { slots, waiters } = database.tables;
    const k = slotHash(slot);
    const rows = await database.read(
      `listing the calls on ${describeSlot(slot)}`,
      `SELECT 0, lease_call, ${HOLDER} FROM ${slots} WHERE k = ? AND lease_until > UTC_TIMESTAMP(6)
UNION ALL SELECT id, call_id, ${WAITER} FROM ${waiters} WHERE k = ? AND ${ALIVE}`,
      [k, k],
    );
    return rows
      .map(([id, callId, claim]) => ({
        id: asNumber(id),
        call: { callId: asText(callId), claim: seenClaim(claim) },
      }))
      .sort((a, b) => a.id - b.id)
      .map(({ call }) => call);
  }

  /** Removes what processes that died have left in any queue. */
  async sweep(database: Database): Promise<void> {
    await database.write(
      "removing places of calls that ended",
      `DELETE FROM ${database.tables.waiters} WHERE alive_until < UTC_TIMESTAMP(6) - INTERVAL ${SWEEP_AFTER_SECONDS} SECOND ORDER BY alive_until, id LIMIT ${SWEPT_AT_ONCE}`,
    );
  }
}

/** Reads a claim as {@link HOLDER} has it. */
export function seenClaim(cell: Cell | undefined): SeenClaim | undefined {
  const [token, ...version] = asTextOrNull(cell ?? null)?.split(" ") ?? [];
  return token === undefined ? undefined : { token, version: version.join(" ") };
}

/** Names the attempt of a claim, for errors. */
export function queueing(claim: LocalClaim): string {
  return `queueing for ${describeSlot(claim.slot)}`;
}
