import { asNumberOrZero } from "../connection/cells.js";
import type { Transaction } from "../connection/database.js";
import type { Value } from "../connection/session.js";
import type { Tables } from "../keys.js";
import { MAX_RECORD_BYTES, type PreparedCallRecord } from "./call-records.js";
import { entryStart } from "./entry-list.js";
import { revisionParts } from "./op-ring.js";
import type { PreparedWrite } from "./prepare-write.js";

/*
 * Call records in rows, where the server has compound statements: a save adds its own, and removes those of the same call and
 * those that are too many. The record of a session's first save, and those of earlier releases, are in the slot's row; they
 * are older than any row, and go once there are as many rows as are kept.
 */

interface Statement {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** Variables of {@link keepingRows}. */
export const CALL_VARIABLES: readonly string[] = ["v_calls INT", "v_oldest BIGINT UNSIGNED"];

/** Statements of a compound one that keep the record of a save. */
export function keepingRows(tables: Tables, k: Buffer, write: PreparedWrite): readonly Statement[] {
  const { calls } = tables;
  const { callRecord, expected } = write;
  const counting = `SELECT COUNT(*) INTO v_calls`;
  if (expected === null)
    return [
      { sql: `${counting} FROM ${calls} WHERE k = ?`, values: [k] },
      { sql: `IF v_calls > 0 THEN ${dropping(calls)}; END IF`, values: [k, LAST] },
    ];
  if (callRecord === undefined) return [];
  const { adding, same, oldest, clearing } = partsOf(tables, k, write, callRecord);
  return [
    adding,
    { sql: `${counting} ${same.sql}`, values: same.values },
    { sql: `IF v_calls > 0 THEN DELETE ${same.sql}; END IF`, values: same.values },
    { sql: `SELECT ${oldest.sql.replace("FROM", "INTO v_oldest FROM")}`, values: oldest.values },
    { sql: `IF v_oldest > 0 THEN ${dropping(calls, "v_oldest")}; END IF`, values: [k] },
    { sql: `${counting} FROM ${calls} WHERE k = ?`, values: [k] },
    { sql: `IF v_calls >= ? THEN ${clearing}; END IF`, values: [callRecord.keep, k] },
  ];
}

/** Does the same as {@link keepingRows} in a transaction that has locked the slot's row. */
export async function keepRows(
  tx: Transaction,
  tables: Tables,
  k: Buffer,
  write: PreparedWrite,
): Promise<void> {
  const { callRecord, expected } = write;
  const drop = (upTo: number) => tx.write(dropping(tables.calls), [k, upTo]);
  const count = async () => {
    const [row] = await tx.read(`SELECT COUNT(*) FROM ${tables.calls} WHERE k = ?`, [k]);
    return asNumberOrZero(row?.[0]);
  };
  if (expected === null) {
    if ((await count()) > 0) await drop(LAST);
    return;
  }
  if (callRecord === undefined) return;
  const { adding, same, oldest, clearing } = partsOf(tables, k, write, callRecord);
  await tx.write(adding.sql, adding.values);
  await tx.write(`DELETE ${same.sql}`, same.values);
  const [row] = await tx.read(`SELECT ${oldest.sql}`, oldest.values);
  const upTo = asNumberOrZero(row?.[0]);
  if (upTo > 0) await drop(upTo);
  if ((await count()) >= callRecord.keep) await tx.write(clearing, [k]);
}

/** Number behind those of all revisions. */
const LAST = Number.MAX_SAFE_INTEGER;

function dropping(calls: string, upTo = "?"): string {
  return `DELETE FROM ${calls} WHERE k = ? AND n <= ${upTo}`;
}

function partsOf(
  { calls, slots }: Tables,
  k: Buffer,
  { revision }: PreparedWrite,
  { callId, bytes, keep }: PreparedCallRecord,
) {
  const n = Number(revisionParts(revision)?.seq ?? 0);
  const start = entryStart("callId", callId);
  const newestFirst = "OVER (ORDER BY n DESC)";
  const adding: Statement = {
    sql: `INSERT INTO ${calls} (k, n, body) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE body = VALUES(body)`,
    values: [k, n, bytes],
  };
  const same: Statement = {
    sql: `FROM ${calls} WHERE k = ? AND n <> ? AND LEFT(body, ?) = UNHEX(?)`,
    values: [k, n, start.length / 2, start],
  };
  const oldest: Statement = {
    sql: `COALESCE(MAX(n), 0) FROM (SELECT n, ROW_NUMBER() ${newestFirst} AS place, SUM(LENGTH(body)) ${newestFirst} AS bytes FROM ${calls} WHERE k = ?) AS ranked WHERE place > ? OR bytes > ${MAX_RECORD_BYTES}`,
    values: [k, keep],
  };
  const clearing = `UPDATE ${slots} SET calls = NULL WHERE k = ? AND calls IS NOT NULL`;
  return { adding, same, oldest, clearing };
}
