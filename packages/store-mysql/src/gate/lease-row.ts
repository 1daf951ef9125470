import { describeSlot, type SeenClaim } from "@holdfast/core/store-kit";
import { asNumberOrZero, type Cell } from "../connection/cells.js";
import type { Database } from "../connection/database.js";
import type { Value } from "../connection/session.js";
import { andUnexpired, NOW } from "../expiry/last-use.js";
import { inboxAfter } from "../inbox/inbox-column.js";
import { removeEntries } from "../inbox/remove-entries.js";
import type { Tables } from "../keys.js";
import { entryStart, withoutEntry } from "../state/entry-list.js";
import {
  deleteEmptyRow,
  LEASE_END,
  LEASE_ENDED,
  LEASE_VERSION,
  SLOT_COLUMNS,
  slotValues,
} from "../state/state-row.js";
import type { LocalClaim } from "./local-claim.js";
import { readReport, type Taken, type TakeTerms, takeAtOnce, takingInRow } from "./take-slot.js";
import { queueing } from "./waiting-queue.js";

const FREE = "(lease_until IS NULL OR lease_until <= UTC_TIMESTAMP(6))";
const ENDED = `${LEASE_ENDED}, used_at = ${NOW}`;

/** Condition that the lease is that of a holder whose process is dead. */
const REPLACED = `(lease_holder = ? AND ${LEASE_VERSION} = ?)`;

/**
 * Lease in a slot's row. Times are the server's; a claim recognises its own token, so that every command may be repeated.
 */
export class LeaseRow {
  readonly #leaseMicros: number;

  constructor(leaseMs: number) {
    this.#leaseMicros = leaseMs * 1_000;
  }

  /**
   * Takes a slot that is free, or whose holder is to be replaced, and for which nobody waits, in one statement; null when it
   * was not to be had.
   */
  async takeFree(database: Database, claim: LocalClaim, terms: TakeTerms): Promise<Taken | null> {
    const taking = {
      leased: this.#leased(claim),
      waiting: { sql: "waiting", values: [] },
      where: {
        sql: `(lease_holder = ? OR (waiting = 0 AND (${FREE} OR ${REPLACED})))${andUnexpired(database)}`,
        values: [claim.tokenBytes, ...replacedValues(terms.replaces)],
      },
    };
    const rows = await takeAtOnce(database, claim, terms, taking);
    if (rows !== null) return readReport(asNumberOrZero(rows[0]?.[0]));
    const { sql, values } = takingInRow(database.tables, claim, terms, taking);
    const { affectedRows, insertId } = await database.write(queueing(claim), sql, values);
    return readReport(affectedRows === 0 ? 0 : insertId);
  }

  /** Takes a slot that has no row yet. */
  takeNew(database: Database, claim: LocalClaim, { put }: TakeTerms): Promise<boolean> {
    return database.insert(
      queueing(claim),
      `INSERT INTO ${database.tables.slots} (${SLOT_COLUMNS}, lease_holder, lease_call, lease_until, inbox, unfinished, listed_at, used_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, ?, ?, ${put ? "UTC_TIMESTAMP(6)" : "NULL"}, ${NOW})`,
      [
        ...[...slotValues(claim.slot), ...this.#leased(claim)],
        ...[put?.bytes ?? null, put?.isInput ? 1 : 0],
      ],
    );
  }

  /**
   * Takes a slot that is free, or whose holder is to be replaced, for the first in the queue, whose place goes with it.
   *
   * @param clears - value of `waiting` when nobody waited behind; if it is still that, newcomers need not queue
   * @returns null when the slot is not free; otherwise with the signals that lay beside the place
   */
  async takeTurn(
    database: Database,
    claim: LocalClaim,
    terms: TakeTerms,
    clears: number | null,
  ): Promise<(Taken & { readonly signals: Buffer | undefined }) | null> {
    const { tables } = database;
    const ticket = claim.ticket ?? 0;
    const taking = {
      leased: this.#leased(claim),
      waiting: { sql: "IF(waiting = ?, 0, waiting)", values: [clears ?? -1] },
      where: {
        sql: `(lease_holder = ? OR ${FREE} OR ${REPLACED})`,
        values: [claim.tokenBytes, ...replacedValues(terms.replaces)],
      },
    };
    const sql = `${readingPlace(tables, "INTO v_beside ")};\n${leaving(tables)}`;
    const behind = { sql, values: [ticket, ticket] };
    const rows = await takeAtOnce(database, claim, terms, taking, behind);
    if (rows !== null) {
      const taken = readReport(asNumberOrZero(rows[0]?.[0]));
      return taken && { ...taken, signals: asSignals(rows[0]?.[1]) };
    }
    return database.transaction(queueing(claim), async (tx) => {
      const { sql, values } = takingInRow(tables, claim, terms, taking);
      const { affectedRows, insertId } = await tx.write(sql, values);
      const taken = readReport(affectedRows === 0 ? 0 : insertId);
      if (taken === null) return null;
      const [row] = await tx.read(readingPlace(tables), [ticket]);
      if (row !== undefined) await tx.write(leaving(tables), [ticket]);
      return { ...taken, signals: asSignals(row?.[0]) };
    });
  }

  /** Renews a lease; false when it is no longer the claim's. */
  async renew(database: Database, claim: LocalClaim): Promise<boolean> {
    const { affectedRows } = await database.write(
      `renewing the lease of ${describeSlot(claim.slot)}`,
      `UPDATE ${database.tables.slots} SET lease_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND WHERE k = ? AND lease_holder = ? AND lease_until > ${LEASE_END}`,
      [this.#leaseMicros, claim.k, claim.tokenBytes],
    );
    return affectedRows > 0;
  }

  /** Gives a lease back, with a row that then holds nothing, and removes entries of the inbox. */
  async release(database: Database, claim: LocalClaim, drop: readonly string[]): Promise<void> {
    const { tables } = database;
    const what = `releasing ${describeSlot(claim.slot)}`;
    const mine = [claim.k, claim.tokenBytes];
    const [dropped, ...more] = drop;
    // In two places, where the server has compound statements.
    const mayBeFirst = dropped !== undefined && database.knowsCompounds;
    if (more.length > 0 || mayBeFirst) return this.#releaseDropping(database, claim, drop);
    if (claim.mayBeEmpty) {
      const start = dropped === undefined ? [] : Array(3).fill(entryStart("id", dropped));
      const alsoEmpty = dropped === undefined ? "" : ` OR ${withoutEntry("inbox")} = X''`;
      const { affectedRows } = await database.write(
        what,
        `DELETE FROM ${tables.slots} WHERE k = ? AND lease_holder = ? AND rev IS NULL AND log_seq = 0 AND waiting = 0 AND (inbox IS NULL${alsoEmpty})`,
        [...mine, ...start],
      );
      if (affectedRows > 0) return;
    }
    const inbox = dropped === undefined ? { sql: "", values: [] } : inboxAfter(undefined, dropped);
    await database.write(
      what,
      `UPDATE ${tables.slots} SET ${[ENDED, inbox.sql].filter(Boolean).join(", ")} WHERE k = ? AND lease_holder = ?`,
      [...inbox.values, ...mine],
    );
  }

  #releaseDropping(database: Database, claim: LocalClaim, drop: readonly string[]): Promise<void> {
    const { tables } = database;
    return database.transaction(`releasing ${describeSlot(claim.slot)}`, async (tx) => {
      const { affectedRows } = await tx.write(
        `UPDATE ${tables.slots} SET ${ENDED} WHERE k = ? AND lease_holder = ?`,
        [claim.k, claim.tokenBytes],
      );
      if (affectedRows === 0) return;
      await removeEntries(tx, tables, claim.k, drop);
      await tx.write(deleteEmptyRow(tables), [claim.k]);
    });
  }

  #leased({ tokenBytes, callIdBytes }: LocalClaim): readonly Value[] {
    return [tokenBytes, callIdBytes, this.#leaseMicros];
  }
}

function replacedValues(claim: SeenClaim | undefined): readonly Value[] {
  return claim ? [Buffer.from(claim.token, "utf8"), claim.version] : [null, null];
}

/** Statement that reads the signals beside a place, held until the end, so that none can be put there before it is deleted. */
function readingPlace({ waiters }: Tables, into = ""): string {
  return `SELECT signals ${into}FROM ${waiters} WHERE id = ? FOR UPDATE`;
}

function leaving({ waiters }: Tables): string {
  return `DELETE FROM ${waiters} WHERE id = ?`;
}

function asSignals(cell: Cell | undefined): Buffer | undefined {
  return Buffer.isBuffer(cell) ? cell : undefined;
}
