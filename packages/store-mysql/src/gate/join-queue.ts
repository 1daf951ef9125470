import type { SeenClaim } from "@holdfast/core/store-kit";
import { asNumber, asNumberOrZero, type Row } from "../connection/cells.js";
import { compoundBlock } from "../connection/compound.js";
import type { Database } from "../connection/database.js";
import { EXPIRED, isExpired, lifeOf } from "../expiry/last-use.js";
import type { LocalClaim } from "./local-claim.js";
import { ALIVE, HELD, HOLDER, queueing, seenClaim } from "./waiting-queue.js";

/** Place in a queue. */
export interface Joined {
  readonly ticket: number;
  /** Number of calls before it, the holder included. */
  readonly ahead: number;
}

/** Error of a call that may not wait; rolls its transaction back. */
export class QueueFull extends Error {
  readonly waiting: number;
  /** The holder, when nobody waits. */
  readonly before: SeenClaim | undefined;

  constructor(waiting: number, before: SeenClaim | undefined) {
    super("the queue is full");
    this.waiting = waiting;
    this.before = waiting === 0 ? before : undefined;
  }
}

/** Error of a call on a session that has expired; rolls its transaction back. */
export class SlotExpired extends Error {}

/** Terms of a claim that joins. */
interface JoinTerms {
  /** Calls that may wait already. */
  readonly mayWait: number;
  /** Time for which a place counts without being renewed. */
  readonly aliveMicros: number;
}

/**
 * Joins the queue of a slot, with the slot's row locked, so that the numbers of its places are in the order of joining: with one
 * statement where the server can, otherwise in a transaction.
 *
 * @returns null when the slot has no row
 * @throws QueueFull when calls are ahead, and `mayWait` of them wait already
 * @throws SlotExpired when the session has expired: no call waits for it, and it must be removed before the next one begins
 */
export async function joinQueue(
  database: Database,
  claim: LocalClaim,
  terms: JoinTerms,
): Promise<Joined | null> {
  const { k } = claim;
  const joined = await database.compound(queueing(claim), joiningAtOnce(database), [
    ...[k, k, k, claim.tokenBytes, k, terms.mayWait],
    ...placeValues(claim, terms),
  ]);
  const [row] = joined ?? [];
  return row === undefined ? joinInTransaction(database, claim, terms) : readOutcome(row);
}

const [NO_ROW, JOINED, FULL, GONE] = [0, 1, 2, 3];

function joiningAtOnce(database: Database): string {
  return compoundBlock(
    [
      "v_outcome INT DEFAULT 0",
      "v_ticket, v_holders, v_others BIGINT UNSIGNED DEFAULT 0",
      "v_life INT",
      "v_holder BLOB",
    ],
    [
      comingTo(database),
      `IF ROW_COUNT() > 0 THEN
SELECT ${standing(database)} INTO v_holders, v_others, v_ticket, v_life, v_holder FROM ${database.tables.slots} WHERE k = ?;
IF v_holders + v_others = 0 AND v_life = ${EXPIRED} THEN SET v_outcome = ${GONE};
ELSEIF v_ticket > 0 THEN SET v_outcome = ${JOINED}, v_others = GREATEST(v_others, 1) - 1;
ELSEIF v_holders + v_others > 0 AND v_others >= ? THEN SET v_outcome = ${FULL};
ELSE ${placing(database)}; SET v_outcome = ${JOINED}, v_ticket = LAST_INSERT_ID();
END IF;
END IF`,
      `IF v_outcome = ${JOINED} THEN COMMIT; ELSE ROLLBACK; END IF`,
      "SELECT v_outcome, v_ticket, v_holders, v_others, v_holder",
    ],
  );
}

/** @throws QueueFull | SlotExpired */
function readOutcome(row: Row): Joined | null {
  const [outcome, ticket = 0, holders = 0, waiting = 0] = row.slice(0, 4).map(asNumberOrZero);
  if (outcome === NO_ROW) return null;
  if (outcome === GONE) throw new SlotExpired();
  if (outcome === FULL) throw new QueueFull(waiting, seenClaim(row[4]));
  return { ticket, ahead: holders + waiting };
}

function joinInTransaction(
  database: Database,
  claim: LocalClaim,
  terms: JoinTerms,
): Promise<Joined | null> {
  const { k } = claim;
  return database.transaction(queueing(claim), async (tx) => {
    const { affectedRows } = await tx.write(comingTo(database), [k]);
    if (affectedRows === 0) return null;
    const [counts = []] = await tx.read(
      `SELECT ${standing(database)} FROM ${database.tables.slots} WHERE k = ?`,
      [k, k, claim.tokenBytes, k],
    );
    const [holders = 0, waiting = 0, before = 0] = counts.slice(0, 3).map(asNumber);
    const ahead = holders + waiting;
    if (ahead === 0 && isExpired(counts[3])) throw new SlotExpired();
    // Joined before, and the answer was lost.
    if (before > 0) return { ticket: before, ahead: ahead - 1 };
    if (ahead > 0 && waiting >= terms.mayWait) throw new QueueFull(waiting, seenClaim(counts[4]));
    const { insertId } = await tx.write(placing(database), placeValues(claim, terms));
    return { ticket: insertId, ahead };
  });
}

/** Locks the slot's row. */
function comingTo({ tables }: Database): string {
  return `UPDATE ${tables.slots} SET waiting = waiting + 1 WHERE k = ?`;
}

/** Columns for the number of holders and of calls that wait, the place that the claim has already, the life of the slot, and its holder. */
function standing(database: Database): string {
  const { waiters } = database.tables;
  return `${HELD}, (SELECT COUNT(*) FROM ${waiters} WHERE k = ? AND ${ALIVE}), COALESCE((SELECT MAX(id) FROM ${waiters} WHERE k = ? AND token = ?), 0), ${lifeOf(database)}, ${HOLDER}`;
}

function placing({ tables }: Database): string {
  return `INSERT INTO ${tables.waiters} (k, kind, token, call_id, alive_until) VALUES (?, 'waiter', ?, ?, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND)`;
}

function placeValues({ k, tokenBytes, callIdBytes }: LocalClaim, { aliveMicros }: JoinTerms) {
  return [k, tokenBytes, callIdBytes, aliveMicros];
}
