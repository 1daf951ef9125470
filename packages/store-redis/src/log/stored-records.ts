import {
  describeSlot,
  type LogRecord,
  readLogRecord,
  type Slot,
  StateCorruptError,
} from "@holdfast/core";
import type { RedisConnection, RedisReply } from "../connection/redis-connection.js";
import { defineScript } from "../connection/script.js";
import { partKey } from "../keys.js";

/** A record as it is stored; `text` is not looked at yet. */
export interface StoredRecord {
  readonly seq: number;
  readonly text: string;
}

/** Which records to fetch: those from seq `from` to seq `to`, oldest or newest first, at most `limit`. */
export interface RecordRange {
  readonly from: number;
  readonly to: number;
  readonly newestFirst: boolean;
  readonly limit: number;
}

/** A reply ends with the records that take it over this size, in bytes. */
const REPLY_BYTES = 524_288;
const REPLY_RECORDS = 1_000;

// Answers whether there may be more, then id and text of each record. A few at a time: their sizes are not known before.
const readScript = defineScript(
  "read-log",
  false,
  `local command, near, far = ARGV[1], ARGV[2], ARGV[3]
   local room, bytes = tonumber(ARGV[4]), tonumber(ARGV[5])
   local found = {1}
   while room > 0 and bytes > 0 do
     local count = math.min(room, 8)
     local entries = redis.call(command, KEYS[1], near, far, 'COUNT', count)
     for _, entry in ipairs(entries) do
       found[#found + 1] = entry[1]
       found[#found + 1] = entry[2][2]
       bytes = bytes - #entry[2][2]
       near = '(' .. entry[1]
     end
     if #entries < count then found[1] = 0 break end
     room = room - count
   end
   return found`,
);

/** The records of a range in batches, each of which is one reply of about half a megabyte at most. */
export async function* storedRecords(
  connection: RedisConnection,
  keyPrefix: string,
  slot: Slot,
  range: RecordRange,
): AsyncGenerator<StoredRecord[], void, void> {
  const keys = [partKey(keyPrefix, slot, "log")];
  const what = `reading the log of ${describeSlot(slot)}`;
  const command = range.newestFirst ? "XREVRANGE" : "XRANGE";
  let { from, to, limit: room } = range;
  while (room > 0 && from <= to) {
    const ends = range.newestFirst ? [to, from] : [from, to];
    const args = [command, ...ends, Math.min(room, REPLY_RECORDS), REPLY_BYTES];
    const [mayHaveMore, ...fields] = asList(await connection.run(what, readScript, keys, args));
    const batch = recordsIn(fields);
    if (batch.length > 0) yield batch;
    if (mayHaveMore !== 1) return;
    const last = batch.at(-1)?.seq ?? 0;
    if (range.newestFirst) to = last - 1;
    else from = last + 1;
    room -= batch.length;
  }
}

/**
 * A stored record, read.
 *
 * @throws StateCorruptError when it is not what was appended
 */
export function readStored(slot: Slot, { seq, text }: StoredRecord): LogRecord {
  const record = readLogRecord(slot, text);
  if (record.seq === seq) return record;
  throw new StateCorruptError(
    `log record ${seq} of ${describeSlot(slot)} is damaged: it holds another record`,
  );
}

/** The records in `id, text, id, text…`, where an id is `<seq>-0`. */
function recordsIn(fields: readonly RedisReply[]): StoredRecord[] {
  const records: StoredRecord[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2)
    records.push({ seq: Number.parseInt(String(fields[at]), 10), text: String(fields[at + 1]) });
  return records;
}

function asList(reply: RedisReply): readonly RedisReply[] {
  return Array.isArray(reply) ? reply : [];
}
