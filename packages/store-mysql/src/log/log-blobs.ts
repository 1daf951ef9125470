import { type Slot, StateCorruptError } from "@holdfast/core";
import { blobRef, describeSlot } from "@holdfast/core/store-kit";
import { asBytes, asNumber, readingOf } from "../connection/cells.js";
import type { Database, Transaction } from "../connection/database.js";
import { rowBatches } from "../connection/row-batches.js";
import type { Value } from "../connection/session.js";
import { slotHash, type Tables } from "../keys.js";

const CHUNK_BYTES = 262_144;
const REF = /^sha256:([0-9a-f]{64})$/;

/**
 * Writes long texts, each once per slot, before the transaction that names them: it holds a lock, so it should be short.
 * Texts left without a record are deleted with the log.
 */
export async function writeBlobs(
  database: Database,
  slot: Slot,
  blobs: ReadonlyMap<string, Buffer>,
): Promise<void> {
  const k = slotHash(slot);
  const what = `writing a long text of ${describeSlot(slot)}`;
  for (const [ref, bytes] of blobs)
    await insertBlob(
      (sql, values) => database.write(what, sql, values),
      database.tables,
      k,
      ref,
      bytes,
    );
}

/** Inserts the chunks of a text that do not exist yet. */
export async function insertBlob(
  write: (sql: string, values: readonly Value[]) => Promise<unknown>,
  tables: Tables,
  k: Buffer,
  ref: string,
  bytes: Buffer,
): Promise<void> {
  const chunks = Array.from({ length: chunkCount(bytes) }, (_, chunk) => ({
    chunk,
    body: bytes.subarray(chunk * CHUNK_BYTES, (chunk + 1) * CHUNK_BYTES),
  }));
  const hash = hashIn(ref);
  for (const batch of rowBatches(chunks, ({ body }) => body.length)) {
    const rows = batch.map(() => "(?, ?, ?, ?)").join(", ");
    await write(
      `INSERT INTO ${tables.blobs} (k, ref, chunk, body) VALUES ${rows} ON DUPLICATE KEY UPDATE chunk = chunk`,
      batch.flatMap(({ chunk, body }) => [k, hash, chunk, body]),
    );
  }
}

/** Tells whether all chunks of a text exist. */
export async function hasBlob(
  tx: Transaction,
  tables: Tables,
  k: Buffer,
  ref: string,
  bytes: Buffer,
): Promise<boolean> {
  const sql = `SELECT COUNT(*) FROM ${tables.blobs} WHERE k = ? AND ref = ?`;
  const [row] = await tx.read(sql, [k, hashIn(ref)]);
  return asNumber(row?.[0]) === chunkCount(bytes);
}

/**
 * Reads a long text; null when it does not exist.
 *
 * @throws StateCorruptError when its content does not match its hash
 */
export async function readBlob(
  database: Database,
  slot: Slot,
  ref: string,
): Promise<string | null> {
  if (!REF.test(ref)) return null;
  const rows = await database.read(
    `reading a long text of ${describeSlot(slot)}`,
    `SELECT body FROM ${database.tables.blobs} WHERE k = ? AND ref = ? ORDER BY chunk`,
    [slotHash(slot), hashIn(ref)],
  );
  if (rows.length === 0) return null;
  const what = `a long text of ${describeSlot(slot)}`;
  const chunks = readingOf(what, () => rows.map(([body]) => asBytes(body)));
  const text = Buffer.concat(chunks).toString("utf8");
  if (blobRef(text) === ref) return text;
  throw new StateCorruptError(
    `a long text of ${describeSlot(slot)} is damaged: its content does not match its hash`,
  );
}

function chunkCount(bytes: Buffer): number {
  return Math.ceil(bytes.length / CHUNK_BYTES);
}

function hashIn(ref: string): Buffer {
  return Buffer.from(REF.exec(ref)?.[1] ?? "", "hex");
}
