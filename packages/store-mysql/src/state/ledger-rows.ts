import type { Revision } from "@holdfast/core";
import {
  type ChangeLedger,
  REMEMBERED_CHANGES,
  REMEMBERED_OPS,
  revisionSeq,
  type SavedChange,
} from "@holdfast/core/store-kit";
import { REFUSE } from "../connection/compound.js";
import type { Value } from "../connection/session.js";
import type { Tables } from "../keys.js";
import {
  COUNT_BYTES,
  countBytes,
  isRemembered,
  keptBytes,
  readKept,
  TAG_BYTES,
  tagOf,
} from "./change-column.js";
import { opHash, revisionParts } from "./op-ring.js";
import type { PreparedWrite } from "./prepare-write.js";
import { MARK_BYTES, markedRevision, markOf, shortRevision } from "./revision-mark.js";

/*
 * Ledger of the latest ops and changes, a short row each: a save writes over the oldest one of each, which costs the server's log a
 * few bytes, where a list in the slot's row is logged whole, and once more before it is changed.
 *
 * The newest change is in the slot's row as well, in the column `last_change`, where the next save of its lease joins it:
 *
 *   tag of the lease        4 bytes, 0 for none
 *   place of its row        1 byte
 *   its row's entry
 *     revision it led to    8 bytes, its mark
 *     revision it led from  8 bytes, its mark
 *     messages kept         3 bytes
 *     number of replaced    1 byte
 *     replaced positions    3 bytes each
 */

/** Positions in the column, counted from 1. */
const PLACE_AT = TAG_BYTES + 1;
const TO_AT = PLACE_AT + 1;
const FROM_AT = TO_AT + MARK_BYTES;
const KEEP_AT = FROM_AT + MARK_BYTES;
const BEHIND_KEEP_AT = KEEP_AT + COUNT_BYTES;

/** The last change, with this save's revision and the smaller number of kept messages. */
const JOINED = `CONCAT(LEFT(last_change, ${PLACE_AT}), UNHEX(?), SUBSTRING(last_change, ${FROM_AT}, ${MARK_BYTES}), LEAST(SUBSTRING(last_change, ${KEEP_AT}, ${COUNT_BYTES}), UNHEX(?)), SUBSTRING(last_change, ${BEHIND_KEEP_AT}))`;
const NEXT_PLACE = `CHAR((COALESCE(ASCII(SUBSTRING(last_change, ${PLACE_AT}, 1)), -1) + 1) MOD ${REMEMBERED_CHANGES})`;
const LAST_CHANGE = `last_change = IF(LEFT(last_change, ${TAG_BYTES}) = UNHEX(?) AND SUBSTRING(last_change, ${TO_AT}, ${MARK_BYTES}) = UNHEX(?),
${JOINED}, CONCAT(UNHEX(?), ${NEXT_PLACE}, UNHEX(?)))`;
/**
 * Ops that an earlier release has left in the slot's row stay until nobody can repeat them any more: an engine does so for
 * `saveDeadlineMs`, 30 s as a rule.
 */
const OLD_OPS = "ops = IF(updated_at < UTC_TIMESTAMP(6) - INTERVAL 10 MINUTE, '', ops)";

interface Statement {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** Assignments to a slot's row that remember a save as the last change. */
export function lastSave(write: PreparedWrite): Statement {
  const { expected, lease, replaced, keep } = write;
  const [from, to] = [markOf(expected ?? ""), markOf(write.revision)];
  if (from === undefined || to === undefined || !isRemembered(write))
    return { sql: `${OLD_OPS}, changes = NULL, last_change = NULL`, values: [] };
  const tag = tagOf(lease);
  const values = [
    // No tag is empty: a save without a lease, or one that replaces messages, joins none.
    ...[lease !== undefined && replaced.length === 0 ? [tag] : [], [from]],
    ...[[to], [countBytes(keep)]],
    ...[[tag], [to, from, keptBytes(keep, replaced)]],
  ];
  return {
    sql: `${OLD_OPS}, changes = NULL, ${LAST_CHANGE}`,
    // As hex text: servers differ in how they interpret binary values here.
    values: values.map((parts) => Buffer.concat(parts).toString("hex")),
  };
}

/** Statement that copies what {@link lastSave} has remembered to its rows. */
export function insertingLedger(
  { ledger, slots }: Tables,
  k: Buffer,
  write: PreparedWrite,
): Statement {
  const seq = revisionParts(write.revision)?.seq ?? 0n;
  const hasChange = markOf(write.expected ?? "") !== undefined && isRemembered(write);
  const last = (what: string): string => `(SELECT ${what} FROM ${slots} WHERE k = ?)`;
  const change = `, (?, ${last(`${REMEMBERED_OPS} + ASCII(SUBSTRING(last_change, ${PLACE_AT}, 1))`)}, ${last(`SUBSTRING(last_change, ${TO_AT})`)})`;
  return {
    sql: `INSERT INTO ${ledger} (k, place, entry) VALUES (?, ?, ?)${hasChange ? change : ""} ON DUPLICATE KEY UPDATE entry = VALUES(entry)`,
    values: [
      k,
      Number(seq % BigInt(REMEMBERED_OPS)),
      write.opEntry,
      ...(hasChange ? [k, k, k] : []),
    ],
  };
}

/** Statement that reads the ops in the rows of a slot, as one list. */
export function readingOps({ ledger }: Tables): string {
  return `SELECT entry FROM ${ledger} WHERE k = ? AND place < ${REMEMBERED_OPS}`;
}

/** Variables of {@link refusingOp}. */
export const OP_VARIABLES: readonly string[] = ["v_ops INT"];

/** Statements of a compound one that refuse an op that is in the rows of a slot. */
export function refusingOp({ ledger }: Tables, k: Buffer, op: string): Statement {
  return {
    sql: `SELECT COUNT(*) INTO v_ops FROM ${ledger} WHERE k = ? AND place < ${REMEMBERED_OPS} AND LEFT(entry, ${opHash(op).length}) = UNHEX(?);
IF v_ops > 0 THEN ${REFUSE}; END IF`,
    values: [k, opHash(op).toString("hex")],
  };
}

/** Condition for the rows of changes. */
export const OF_CHANGES: string = `place >= ${REMEMBERED_OPS}`;

/** Decodes the row of a change. Revisions in it are named as by `shortRevision`. */
export function readChangeRow(entry: Buffer, present: Revision): SavedChange {
  const newest = revisionSeq(present);
  return {
    to: markedRevision(entry.subarray(0, MARK_BYTES), newest),
    from: markedRevision(entry.subarray(MARK_BYTES, 2 * MARK_BYTES), newest),
    ...readKept(entry, 2 * MARK_BYTES),
  };
}

/** Returns those changes that lead to the stored revision, oldest first: others are of another history, or a save of it is missing. */
export function leadingTo(present: Revision, changes: readonly SavedChange[]): ChangeLedger {
  const byEnd = new Map(changes.map((change) => [change.to, change]));
  const ledger: SavedChange[] = [];
  for (
    let change = byEnd.get(shortRevision(present));
    change !== undefined && ledger.length <= changes.length;
    change = byEnd.get(change.from)
  )
    ledger.unshift(change);
  return ledger;
}
