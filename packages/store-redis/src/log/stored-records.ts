import { type LogRecord, type Slot, StateCorruptError } from "@holdfast/core";
import { describeSlot, readLogRecord } from "@holdfast/core/store-kit";
import type { RedisConnection, RedisReply } from "../connection/redis-connection.js";
import { isNumber, isText, listOf, tuple } from "../connection/reply-shape.js";
import { slotKeys } from "../keys.js";
import { defineSlotScript } from "../slot-script.js";
import { shortRecordsLua } from "./short-records.js";

/** A record as it is stored; `text` is not parsed yet. */
export interface StoredRecord {
  readonly seq: number;
  readonly text: string;
}

/** Range of records to fetch: from seq `from` to seq `to`, oldest or newest first, at most `limit`. */
export interface RecordRange {
  readonly from: number;
  readonly to: number;
  readonly newestFirst: boolean;
  readonly limit: number;
}

/** Soft limit of a reply in bytes: it ends with the records that exceed it. */
const REPLY_BYTES = 524_288;
const REPLY_RECORDS = 1_000;

// Returns whether there may be more, the first seq and the texts. Reads a few at a time, as their sizes are not known before.
const readScript = defineSlotScript(
  "read-log",
  false,
  `${shortRecordsLua}
   local from, to, newest_first = math.max(tonumber(ARGV[1]), 1), tonumber(ARGV[2]), ARGV[3] == '1'
   local room, bytes = tonumber(ARGV[4]), tonumber(ARGV[5])
   to = math.min(to, redis.call('LLEN', LOG))
   local found = {}
   while from <= to and #found < room and bytes > 0 do
     local count = math.min(room - #found, to - from + 1, 8)
     local first = newest_first and to - count + 1 or from
     local texts = redis.call('LRANGE', LOG, first - 1, first + count - 2)
     for at = 1, count do
       local place = newest_first and count + 1 - at or at
       local text = whole_record(first + place - 1, texts[place])
       found[#found + 1] = text
       bytes = bytes - #text
     end
     if newest_first then to = to - count else from = from + count end
   end
   return {from <= to and 1 or 0, newest_first and to + #found or from - #found, found}`,
  tuple(isNumber, isNumber, listOf(isText)),
);

/** Reads the records of a range in batches, each one reply of about half a megabyte at most. */
export async function* storedRecords(
  connection: RedisConnection,
  keyPrefix: string,
  slot: Slot,
  range: RecordRange,
): AsyncGenerator<StoredRecord[], void, void> {
  const keys = slotKeys(keyPrefix, slot);
  const what = `reading the log of ${describeSlot(slot)}`;
  const step = range.newestFirst ? -1 : 1;
  let { from, to, limit: room } = range;
  while (room > 0 && from <= to) {
    const args = [from, to, range.newestFirst ? 1 : 0, Math.min(room, REPLY_RECORDS), REPLY_BYTES];
    const reply = asList(await connection.run(what, readScript, keys, args));
    const [mayHaveMore, first] = reply;
    const batch = asList(reply[2] ?? null).map((text, index) => ({
      seq: Number(first) + index * step,
      text: String(text),
    }));
    if (batch.length > 0) yield batch;
    if (mayHaveMore !== 1) return;
    const last = batch.at(-1)?.seq ?? 0;
    if (range.newestFirst) to = last - 1;
    else from = last + 1;
    room -= batch.length;
  }
}

/**
 * Parses a stored record.
 *
 * @throws StateCorruptError when it is not the record that was appended
 */
export function readStored(slot: Slot, { seq, text }: StoredRecord): LogRecord {
  const record = readLogRecord(slot, text);
  if (record.seq === seq) return record;
  throw new StateCorruptError(
    `log record ${seq} of ${describeSlot(slot)} is damaged: it holds another record`,
  );
}

function asList(reply: RedisReply): readonly RedisReply[] {
  return Array.isArray(reply) ? reply : [];
}
