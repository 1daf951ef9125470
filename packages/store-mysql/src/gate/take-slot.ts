import type { Revision } from "@holdfast/core";
import type { SeenClaim } from "@holdfast/core/store-kit";
import type { Row } from "../connection/cells.js";
import { compoundBlock } from "../connection/compound.js";
import type { Database } from "../connection/database.js";
import type { Value } from "../connection/session.js";
import { NOW } from "../expiry/last-use.js";
import { FIRST_VARIABLES, puttingFirst } from "../inbox/first-entry.js";
import { type PreparedEntry, PUTTING, puttingValues } from "../inbox/inbox-column.js";
import type { Tables } from "../keys.js";
import type { LocalClaim } from "./local-claim.js";
import { queueing } from "./waiting-queue.js";

/** Slot that was taken, as its statement reports it. */
export interface Taken {
  /** The row holds the revision that is known. */
  readonly isCurrent: boolean;
  readonly hasState: boolean;
  /** The inbox held something before. */
  readonly hadInbox: boolean;
}

/** Request of a claim for its slot. */
export interface TakeTerms {
  readonly known: Revision | undefined;
  readonly put: PreparedEntry | undefined;
  /** Holder whose process is dead. */
  readonly replaces?: SeenClaim | undefined;
}

interface Fragment {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** Parts of a statement that takes a slot. */
interface Taking {
  /** Token, call id and microseconds of the lease. */
  readonly leased: readonly Value[];
  /** Expression for `waiting` afterwards. */
  readonly waiting: Fragment;
  /** Condition under which the slot is to be had. */
  readonly where: Fragment;
}

/** Bits of {@link Taken}, as they are passed to `LAST_INSERT_ID`; the lowest one, as 0 would not be reported. */
const [REPORTED, CURRENT, STATE, INBOX] = [1, 2, 4, 8];
/** @param hasInbox - condition that entries were there before */
function reporting(hasInbox: string): string {
  return `LAST_INSERT_ID(${REPORTED} + IF(rev = ?, ${CURRENT}, 0) + IF(rev IS NULL, 0, ${STATE}) + IF(${hasInbox}, ${INBOX}, 0))`;
}
const LEASED = `lease_holder = ?, lease_call = ?, lease_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, lease_signals = NULL, used_at = ${NOW}`;
/** Flag of the slot when its entry gets a row of its own. */
const FLAGGING =
  "unfinished = IF(rev IS NOT NULL AND inbox IS NULL, GREATEST(unfinished, ?), unfinished)";

/** Reads a report; null when the slot was not to be had. */
export function readReport(report: number): Taken | null {
  const has = (bit: number): boolean => (report & bit) !== 0;
  if (!has(REPORTED)) return null;
  return { isCurrent: has(CURRENT), hasState: has(STATE), hadInbox: has(INBOX) };
}

/** Returns the statement that takes a slot and puts the entry into its row; its `LAST_INSERT_ID` is the report. */
export function takingInRow(
  tables: Tables,
  claim: LocalClaim,
  terms: TakeTerms,
  taking: Taking,
): Fragment {
  const { put } = terms;
  const { inbox, slots } = tables;
  const entry = put && { sql: `, ${PUTTING}`, values: puttingValues(put) };
  const hasInbox = `inbox IS NOT NULL OR EXISTS (SELECT 1 FROM ${inbox} WHERE ${inbox}.k = ${slots}.k)`;
  return takingSlot(tables, claim, terms, taking, hasInbox, entry);
}

/**
 * Takes a slot with one statement that may give the entry a row of its own, where the server can.
 *
 * @param behind - statements to run when the slot was taken; they may set the variable `v_beside`
 * @returns a row of the report, 0 when the slot was not to be had, and of `v_beside`; null where the server cannot
 */
export function takeAtOnce(
  database: Database,
  claim: LocalClaim,
  terms: TakeTerms,
  taking: Taking,
  behind?: Fragment,
): Promise<readonly Row[] | null> {
  const { tables } = database;
  const { put } = terms;
  const flagging = put && { sql: `, ${FLAGGING}`, values: [put.isInput ? 1 : 0] };
  const first = takingSlot(tables, claim, terms, taking, "inbox IS NOT NULL", flagging);
  const entry = puttingFirst(tables, claim.k, put, `v_report & ${STATE | INBOX} = ${STATE}`);
  const sql = compoundBlock(
    ["v_report BIGINT UNSIGNED DEFAULT 0", "v_beside MEDIUMBLOB", ...FIRST_VARIABLES],
    [
      first.sql,
      `IF ROW_COUNT() > 0 THEN
SET v_report = LAST_INSERT_ID();
${entry.sql};
IF v_firsts > 0 THEN SET v_report = v_report | ${INBOX}; END IF;
${behind ? `${behind.sql};` : ""}
END IF`,
      ...["COMMIT", "SELECT v_report, v_beside"],
    ],
  );
  const values = [...first.values, ...entry.values, ...(behind?.values ?? [])];
  return database.compound(queueing(claim), sql, values);
}

function takingSlot(
  { slots }: Tables,
  { k }: LocalClaim,
  { known }: TakeTerms,
  { leased, waiting, where }: Taking,
  hasInbox: string,
  entry: Fragment = { sql: "", values: [] },
): Fragment {
  return {
    sql: `UPDATE ${slots} SET ${LEASED}, waiting = ${waiting.sql} + 0 * ${reporting(hasInbox)}${entry.sql}
WHERE k = ? AND ${where.sql}`,
    values: [
      ...[...leased, ...waiting.values, known === undefined ? null : Buffer.from(known, "utf8")],
      ...[...entry.values, k, ...where.values],
    ],
  };
}
