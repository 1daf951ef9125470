import type { Revision } from "@holdfast/core";
import { describeSlot, type SeenClaim } from "@holdfast/core/store-kit";
import { asNumberOrZero, type Cell } from "../connection/cells.js";
import { compoundBlock } from "../connection/compound.js";
import type { Database } from "../connection/database.js";
import type { Value } from "../connection/session.js";
import { andUnexpired, NOW } from "../expiry/last-use.js";
import {
  inboxAfter,
  type PreparedEntry,
  PUTTING,
  puttingValues,
  removeEntries,
} from "../inbox/inbox-column.js";
import type { Tables } from "../keys.js";
import { entryStart, withoutEntry } from "../state/entry-list.js";
import { deleteEmptyRow, SLOT_COLUMNS, slotValues } from "../state/state-row.js";
import type { LocalClaim } from "./local-claim.js";

const FREE = "(lease_until IS NULL OR lease_until <= UTC_TIMESTAMP(6))";
const ENDED = `lease_token = NULL, lease_call = NULL, lease_until = NULL, lease_signals = NULL, used_at = ${NOW}`;
const LEASED = `lease_token = ?, lease_call = ?, lease_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, lease_signals = NULL, used_at = ${NOW}`;

/** Column `lease_until` as the version of a lease. */
export const LEASE_VERSION = "CAST(lease_until AS CHAR)";

/** Slot that was taken, as its statement reports it. */
export interface Taken {
  /** The row holds the revision that is known. */
  readonly isCurrent: boolean;
  readonly hasState: boolean;
  /** The inbox held something before. */
  readonly hadInbox: boolean;
}

/** Bits of {@link Taken} in `LAST_INSERT_ID`; the lowest one, as 0 would not be reported. */
const [REPORTED, CURRENT, STATE, INBOX] = [1, 2, 4, 8];
const REPORT = `LAST_INSERT_ID(${REPORTED} + IF(rev = ?, ${CURRENT}, 0) + IF(rev IS NULL, 0, ${STATE}) + IF(inbox IS NULL, 0, ${INBOX}))`;

/** Request of a claim for its slot. */
export interface TakeTerms {
  readonly known: Revision | undefined;
  readonly put: PreparedEntry | undefined;
  /** Holder whose process is dead. */
  readonly replaces?: SeenClaim | undefined;
}

/**
 * Lease in a slot's row. Times are the server's; a claim recognises its own token, so that every command may be repeated.
 */
export class LeaseRow {
  readonly #leaseMicros: number;

  constructor(leaseMs: number) {
    this.#leaseMicros = leaseMs * 1_000;
  }

  /** Takes a slot that is free and for which nobody waits, in one statement; null when it was not to be had. */
  async takeFree(database: Database, claim: LocalClaim, terms: TakeTerms): Promise<Taken | null> {
    const { affectedRows, insertId } = await database.write(
      queueing(claim),
      `UPDATE ${database.tables.slots} SET ${LEASED}, waiting = waiting + 0 * ${REPORT}${terms.put ? `, ${PUTTING}` : ""}
WHERE k = ? AND (lease_token = ? OR (waiting = 0 AND ${FREE}))${andUnexpired(database)}`,
      [...this.#leased(claim), ...takeValues(terms), claim.k, claim.tokenBytes],
    );
    return affectedRows === 0 ? null : readReport(insertId);
  }

  /** Takes a slot that has no row yet. */
  takeNew(database: Database, claim: LocalClaim, { put }: TakeTerms): Promise<boolean> {
    return database.insert(
      queueing(claim),
      `INSERT INTO ${database.tables.slots} (${SLOT_COLUMNS}, lease_token, lease_call, lease_until, inbox, unfinished, listed_at, used_at)
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
    const { replaces } = terms;
    const ticket = claim.ticket ?? 0;
    const values = [
      ...[...this.#leased(claim), clears ?? -1, ...takeValues(terms)],
      ...[claim.k, claim.tokenBytes],
      ...(replaces ? [Buffer.from(replaces.token, "utf8"), replaces.version] : [null, null]),
    ];
    const { tables } = database;
    const atOnce = takingAtOnce(tables, terms);
    const rows = await database.compound(queueing(claim), atOnce, [...values, ticket, ticket]);
    if (rows !== null) {
      const [report, signals] = rows[0] ?? [];
      const insertId = asNumberOrZero(report);
      return insertId === 0 ? null : { ...readReport(insertId), signals: asSignals(signals) };
    }
    return database.transaction(queueing(claim), async (tx) => {
      const { affectedRows, insertId } = await tx.write(takingTurn(tables, terms), values);
      if (affectedRows === 0) return null;
      const [row] = await tx.read(readingPlace(tables), [ticket]);
      if (row !== undefined) await tx.write(leaving(tables), [ticket]);
      return { ...readReport(insertId), signals: asSignals(row?.[0]) };
    });
  }

  /** Renews a lease; false when it is no longer the claim's. */
  async renew(database: Database, claim: LocalClaim): Promise<boolean> {
    const { affectedRows } = await database.write(
      `renewing the lease of ${describeSlot(claim.slot)}`,
      `UPDATE ${database.tables.slots} SET lease_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND WHERE k = ? AND lease_token = ?`,
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
    if (more.length > 0) return this.#releaseDropping(database, claim, drop);
    if (claim.mayBeEmpty) {
      const start = dropped === undefined ? [] : Array(3).fill(entryStart("id", dropped));
      const alsoEmpty = dropped === undefined ? "" : ` OR ${withoutEntry("inbox")} = X''`;
      const { affectedRows } = await database.write(
        what,
        `DELETE FROM ${tables.slots} WHERE k = ? AND lease_token = ? AND rev IS NULL AND log_seq = 0 AND waiting = 0 AND (inbox IS NULL${alsoEmpty})`,
        [...mine, ...start],
      );
      if (affectedRows > 0) return;
    }
    const inbox = dropped === undefined ? { sql: "", values: [] } : inboxAfter(undefined, dropped);
    await database.write(
      what,
      `UPDATE ${tables.slots} SET ${[ENDED, inbox.sql].filter(Boolean).join(", ")} WHERE k = ? AND lease_token = ?`,
      [...inbox.values, ...mine],
    );
  }

  #releaseDropping(database: Database, claim: LocalClaim, drop: readonly string[]): Promise<void> {
    const { tables } = database;
    return database.transaction(`releasing ${describeSlot(claim.slot)}`, async (tx) => {
      const { affectedRows } = await tx.write(
        `UPDATE ${tables.slots} SET ${ENDED} WHERE k = ? AND lease_token = ?`,
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

function takingTurn({ slots }: Tables, { put }: TakeTerms): string {
  return `UPDATE ${slots} SET ${LEASED}, waiting = IF(waiting = ?, 0, waiting) + 0 * ${REPORT}${put ? `, ${PUTTING}` : ""}
WHERE k = ? AND (lease_token = ? OR ${FREE} OR (lease_token = ? AND ${LEASE_VERSION} = ?))`;
}

/** Statement that reads the signals beside a place, held until the end, so that none can be put there before it is deleted. */
function readingPlace({ waiters }: Tables, into = ""): string {
  return `SELECT signals ${into}FROM ${waiters} WHERE id = ? FOR UPDATE`;
}

function leaving({ waiters }: Tables): string {
  return `DELETE FROM ${waiters} WHERE id = ?`;
}

function takingAtOnce(tables: Tables, terms: TakeTerms): string {
  return compoundBlock(
    ["report BIGINT UNSIGNED DEFAULT 0", "beside MEDIUMBLOB"],
    [
      takingTurn(tables, terms),
      `IF ROW_COUNT() > 0 THEN
SET report = LAST_INSERT_ID();
${readingPlace(tables, "INTO beside ")};
${leaving(tables)};
END IF`,
      ...["COMMIT", "SELECT report, beside"],
    ],
  );
}

function asSignals(cell: Cell | undefined): Buffer | undefined {
  return Buffer.isBuffer(cell) ? cell : undefined;
}

function takeValues({ known, put }: TakeTerms): readonly Value[] {
  return [
    known === undefined ? null : Buffer.from(known, "utf8"),
    ...(put ? puttingValues(put) : []),
  ];
}

function readReport(insertId: number): Taken {
  const has = (bit: number): boolean => (insertId & bit) !== 0;
  return { isCurrent: has(CURRENT), hasState: has(STATE), hadInbox: has(INBOX) };
}

function queueing(claim: LocalClaim): string {
  return `queueing for ${describeSlot(claim.slot)}`;
}
