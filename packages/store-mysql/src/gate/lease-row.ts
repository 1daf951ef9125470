import type { Revision } from "@holdfast/core";
import { describeSlot } from "@holdfast/core/store-kit";
import type { Database } from "../connection/database.js";
import { SLOT_COLUMNS, slotValues } from "../state/state-row.js";
import type { Claim } from "./claim.js";

const FREE = "(lease_until IS NULL OR lease_until <= UTC_TIMESTAMP(6))";
const ENDED = "lease_token = NULL, lease_call = NULL, lease_until = NULL, lease_signals = NULL";

/** What a statement that takes a slot says through `LAST_INSERT_ID`: the row holds the known revision, or not. */
const [CURRENT, OTHER] = [2, 1];

/** The lease in a slot's row. Times are the server's; a claim recognises its own token, so that all may be repeated. */
export class LeaseRow {
  readonly #database: Database;
  readonly #leaseMicros: number;

  constructor(database: Database, leaseMs: number) {
    this.#database = database;
    this.#leaseMicros = leaseMs * 1_000;
  }

  /**
   * Takes a slot that is free and for which nobody waits, and compares its revision, in one statement: `"current"` when it
   * holds the revision that is known, null when the slot was not to be had.
   */
  async takeFree(claim: Claim, known: Revision | undefined): Promise<"current" | "held" | null> {
    const { slots } = this.#database.tables;
    const { affectedRows, insertId } = await this.#database.write(
      acquiring(claim),
      `UPDATE ${slots} SET lease_token = ?, lease_call = ?, lease_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, lease_signals = NULL,
waiting = waiting + 0 * LAST_INSERT_ID(IF(rev = ?, ${CURRENT}, ${OTHER}))
WHERE k = ? AND (lease_token = ? OR (waiting = 0 AND ${FREE}))`,
      [
        ...[claim.tokenBytes, claim.callIdBytes, this.#leaseMicros],
        known === undefined ? null : Buffer.from(known, "utf8"),
        ...[claim.k, claim.tokenBytes],
      ],
    );
    if (affectedRows === 0) return null;
    return insertId === CURRENT ? "current" : "held";
  }

  /** Takes a slot that has no row yet. */
  takeNew(claim: Claim): Promise<boolean> {
    const { slots } = this.#database.tables;
    return this.#database.insert(
      acquiring(claim),
      `INSERT INTO ${slots} (${SLOT_COLUMNS}, lease_token, lease_call, lease_until)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND)`,
      [...slotValues(claim.slot), claim.tokenBytes, claim.callIdBytes, this.#leaseMicros],
    );
  }

  /**
   * Takes a free slot for the first in line, whose ticket goes with it.
   *
   * @param clears - the value of `waiting` when nobody waited behind; if it is still that, newcomers need not queue
   * @returns whether the slot was free; signals that lay beside the ticket are then the claim's
   */
  takeTurn(claim: Claim, clears: number | null): Promise<boolean> {
    const { slots, waiters } = this.#database.tables;
    const ticket = claim.ticket ?? 0;
    return this.#database.transaction(acquiring(claim), async (tx) => {
      const { affectedRows } = await tx.write(
        `UPDATE ${slots} SET lease_token = ?, lease_call = ?, lease_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, lease_signals = NULL,
waiting = IF(waiting = ?, 0, waiting) WHERE k = ? AND (lease_token = ? OR ${FREE})`,
        [
          ...[claim.tokenBytes, claim.callIdBytes, this.#leaseMicros],
          ...[clears ?? -1, claim.k, claim.tokenBytes],
        ],
      );
      if (affectedRows === 0) return false;
      // Held until the end, so that no signal can be put there between reading and deleting.
      const [row] = await tx.read(`SELECT signals FROM ${waiters} WHERE id = ? FOR UPDATE`, [
        ticket,
      ]);
      if (row === undefined) return true;
      if (Buffer.isBuffer(row[0])) claim.signals = row[0];
      await tx.write(`DELETE FROM ${waiters} WHERE id = ?`, [ticket]);
      return true;
    });
  }

  /** Whether the lease was still the claim's. */
  async renew(claim: Claim): Promise<boolean> {
    const { slots } = this.#database.tables;
    const { affectedRows } = await this.#database.write(
      `renewing the lease of ${describeSlot(claim.slot)}`,
      `UPDATE ${slots} SET lease_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND WHERE k = ? AND lease_token = ?`,
      [this.#leaseMicros, claim.k, claim.tokenBytes],
    );
    return affectedRows > 0;
  }

  /** @param mayBeEmpty - the row may hold nothing but the lease, and then goes with it */
  async release(claim: Claim, mayBeEmpty: boolean): Promise<void> {
    const { slots } = this.#database.tables;
    const what = `releasing ${describeSlot(claim.slot)}`;
    const values = [claim.k, claim.tokenBytes];
    if (mayBeEmpty) {
      const { affectedRows } = await this.#database.write(
        what,
        `DELETE FROM ${slots} WHERE k = ? AND lease_token = ? AND rev IS NULL AND log_seq = 0 AND waiting = 0`,
        values,
      );
      if (affectedRows > 0) return;
    }
    await this.#database.write(
      what,
      `UPDATE ${slots} SET ${ENDED} WHERE k = ? AND lease_token = ?`,
      values,
    );
  }
}

function acquiring(claim: Claim): string {
  return `acquiring ${describeSlot(claim.slot)}`;
}
