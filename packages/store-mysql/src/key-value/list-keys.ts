import { checkLimit, type KeyPage, type KeyQuery } from "@holdfast/core/store-kit";
import { asBytes, type Row } from "../connection/cells.js";
import type { Database } from "../connection/database.js";
import { HEAD_BYTES, headOf } from "./value-location.js";

/** Rows per statement, one more than the default page has. A longer page is read in several statements. */
const BATCH_ROWS = 101;

/** Names that start with a prefix: from `first` up to, and without, `beyond`. */
interface NameRange {
  readonly namespace: Buffer;
  readonly first: Buffer;
  readonly beyond: Buffer;
}

/** Returns one page of the keys of a namespace, in the order of their UTF-8 bytes. */
export async function listKeys(
  database: Database,
  namespace: Buffer,
  query: KeyQuery,
): Promise<KeyPage> {
  const limit = checkLimit(query.limit, 100);
  const { prefix = "", cursor = "" } = query;
  const range = { namespace, ...boundsOf(Buffer.from(prefix, "utf8")) };
  const names: Buffer[] = [];
  for (let isLast = false; !isLast && names.length <= limit; ) {
    const last = names.at(-1) ?? Buffer.from(cursor, "utf8");
    const batch = await namesAfter(database, range, last);
    names.push(...batch.names);
    isLast = batch.isLast;
  }
  const keys = names.slice(0, limit).map((name) => name.toString("utf8"));
  // The last key shown, so that keys added or deleted between pages shift nothing.
  const last = keys.at(-1);
  return names.length > limit && last !== undefined ? { keys, cursor: last } : { keys };
}

/** Reads some of the names in a range after `last`, in order; `isLast` when there are no more. */
async function namesAfter(
  database: Database,
  { namespace, first, beyond }: NameRange,
  last: Buffer,
): Promise<{ readonly names: readonly Buffer[]; readonly isLast: boolean }> {
  const { kv } = database.tables;
  const what = "listing keys";
  const inRange = "ns = ? AND name > ? AND name >= ? AND name < ?";
  const values = [namespace, last, first, beyond];
  const start = headOf(Buffer.compare(last, first) > 0 ? last : first);
  const rows = await database.read(
    what,
    `SELECT name FROM ${kv} FORCE INDEX (by_head) WHERE ${inRange} AND head >= ? AND head <= ? ORDER BY head LIMIT ${BATCH_ROWS}`,
    [...values, start, headOf(beyond)],
  );
  const isLast = rows.length < BATCH_ROWS;
  const names = rows.map(readName);
  const end = names.at(-1);
  if (isLast || end === undefined || end.length < HEAD_BYTES)
    return { names: names.sort(Buffer.compare), isLast };
  // Names with the same head come in any order, so the last ones read may not be the smallest. They are sorted piece by piece,
  // because servers sort by the first 1,024 bytes of a value only.
  const head = headOf(end);
  const tied = await database.read(
    what,
    `SELECT name FROM ${kv} FORCE INDEX (by_head) WHERE ${inRange} AND head = ? ORDER BY SUBSTRING(name, 1, 768), SUBSTRING(name, 769, 768), SUBSTRING(name, 1537, 768), SUBSTRING(name, 2305) LIMIT ${BATCH_ROWS}`,
    [...values, head],
  );
  const before = names.filter((name) => !headOf(name).equals(head)).sort(Buffer.compare);
  return { names: [...before, ...tied.map(readName)], isLast };
}

function readName([name]: Row): Buffer {
  return asBytes(name);
}

function boundsOf(prefix: Buffer): Pick<NameRange, "first" | "beyond"> {
  // No byte of UTF-8 is 255: it is greater than every name, and the last byte of a prefix can be incremented.
  if (prefix.length === 0) return { first: prefix, beyond: Buffer.from([255]) };
  const beyond = Buffer.from(prefix);
  const end = beyond.length - 1;
  beyond.writeUInt8(beyond.readUInt8(end) + 1, end);
  return { first: prefix, beyond };
}
