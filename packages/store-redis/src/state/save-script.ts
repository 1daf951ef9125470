import {
  InvalidInputError,
  type Message,
  type Revision,
  type Slot,
  StateTooLargeError,
} from "@holdfast/core";
import {
  type CallRecordWrite,
  checkWrite,
  describeSlot,
  leaseLost,
  nextRevision,
  REMEMBERED_OPS,
  type StateWrite,
  stateConflict,
} from "@holdfast/core/store-kit";
import type { RedisReply } from "../connection/redis-connection.js";
import {
  either,
  isNumber,
  isText,
  isTextOrNull,
  textLike,
  verdict,
} from "../connection/reply-shape.js";
import { defineScript, type Script } from "../connection/script.js";
import { gateLua } from "../gate/gate-lua.js";
import { refreshLua } from "../gate/refresh-lua.js";
import { inboxLua } from "../inbox/inbox-lua.js";
import { idArgs } from "../inbox/redis-inbox.js";
import { appendLogLua } from "../log/append-log.js";
import { corruptState, slotField, stateLua } from "./stored-state.js";

/** Form of revisions made with `nextRevision`. */
const REVISION = /^\d+\.[0-9a-f]+$/;

/** Fields of the ring buffer that remembers the last saves. */
const opFields = Array.from({ length: REMEMBERED_OPS }, (_, place) => `, 'o${place}'`).join("");

/**
 * Saves state and log records, takes entries out of the inbox and releases the lease, atomically. Every check comes before the
 * first write; after that nothing can fail.
 *
 * KEYS `slotKeys`. ARGV: slot, op as JSON, expected (`r<revision>`, or empty for none), revision, lease (`t<token>`, or empty
 * for none), 1 to release it, keep, head, ttlMs, the time, info (or empty for that of the save before), callId of the call
 * record as JSON (or empty for none), the record, the number of records to keep, number of inbox entries to take and their ids
 * as JSON, number of replacements and for each its index and text, number of appended messages and their texts, and the
 * arguments of `append_log`.
 *
 * Returns `saved` and the revision, `lease`, `conflict` and the stored revision, `corrupt` and why, or `misfit` and the
 * number of messages stored.
 */
export const saveScript: Script = defineScript(
  "save",
  true,
  `${gateLua}${refreshLua}${stateLua}${inboxLua}${appendLogLua}
local slot, op, expected, rev = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local token, releases = string.sub(ARGV[5], 2), ARGV[6] == '1'
local keep, head, ttl_ms, at_ms = tonumber(ARGV[7]), ARGV[8], tonumber(ARGV[9]), ARGV[10]

local stored = redis.call('HMGET', STATE, 'slot', 'rev', 'n', 'ttl'${opFields})
local stored_rev = stored[2]
local done = op .. '\\t'
for at = 5, #stored do
  if stored[at] and string.sub(stored[at], 1, #done) == done then
    -- Its holder may have taken the lease again meanwhile, not knowing that it was released.
    if releases and holds_lease(token) then leave(token) end
    return {'saved', string.sub(stored[at], #done + 1)}
  end
end
if ARGV[5] ~= '' and not holds_lease(token) then return {'lease'} end
if expected ~= (stored_rev and 'r' .. stored_rev or '') then return {'conflict', stored_rev} end
local problem = damage(slot, stored[1], stored_rev, stored[3])
if problem then return {'corrupt', problem} end
local count = tonumber(stored[3] or 0)
if keep > count then return {'misfit', count} end

if keep == 0 then redis.call('DEL', MESSAGES)
elseif keep < count then redis.call('LTRIM', MESSAGES, 0, keep - 1) end
local taken = tonumber(ARGV[15])
local at = 17 + taken
for _ = 1, tonumber(ARGV[at - 1]) do
  redis.call('LSET', MESSAGES, ARGV[at], ARGV[at + 1])
  at = at + 2
end
local appended, messages_at = tonumber(ARGV[at]), at + 1
-- In batches: the arguments of a Lua call are limited.
for first = at + 1, at + appended, 1000 do
  redis.call('RPUSH', MESSAGES, unpack(ARGV, first, math.min(first + 999, at + appended)))
end
at = at + appended + 1

local place = 'o' .. tonumber(string.match(rev, '^%d+')) % ${REMEMBERED_OPS}
local fields = {'rev', rev, 'n', keep + appended, 'head', head, 'at', at_ms, place, done .. rev}
if ARGV[11] ~= '' then
  fields[11], fields[12] = 'info', ARGV[11]
end
redis.call('HSET', STATE, unpack(fields))
if taken > 0 then remove_entries(KEYS[9], STATE, 16, 15 + taken) end
if stored[1] ~= slot or stored[4] ~= ARGV[9] then redis.call('HSET', STATE, 'slot', slot, 'ttl', ARGV[9]) end
-- Without a state they belong to one that was deleted by a release that does not know them.
if not stored_rev then redis.call('DEL', RECORDS) end
if ARGV[12] ~= '' then
  local start, newest = ARGV[12] .. '\t', redis.call('LINDEX', RECORDS, 0)
  if newest and string.sub(newest, 1, #start) == start then redis.call('LPOP', RECORDS) end
  local kept = tonumber(ARGV[14])
  if kept < 1 then redis.call('DEL', RECORDS)
  elseif redis.call('LPUSH', RECORDS, start .. ARGV[13]) > kept then redis.call('LTRIM', RECORDS, 0, kept - 1) end
end
append_log(KEYS[6], KEYS[7], at, messages_at)
if releases and ARGV[5] ~= '' then leave(token) end
if ttl_ms > 0 then refresh(ttl_ms, 4)
elseif stored[4] ~= '0' then
  -- The keys may have been stored with a ttlMs.
  for key = 4, #KEYS do redis.call('PERSIST', KEYS[key]) end
end
return {'saved', rev}
`,
  either(
    verdict("saved", textLike(REVISION)),
    verdict("lease"),
    verdict("conflict", isTextOrNull),
    verdict("corrupt", isText),
    verdict("misfit", isNumber),
  ),
);

/**
 * A head is written whole with every save, so it must be small. The engine allows its sections 256 KB, and keeps them twice
 * while a run saves its steps.
 */
const MAX_HEAD_BYTES = 1_024 * 1_024;
const MAX_MESSAGE_BYTES = 16 * 1_024 * 1_024;
/** The server is blocked while it reads and applies a save. */
const MAX_SAVE_BYTES = 64 * 1_024 * 1_024;

/**
 * Builds the arguments of the save script, without the log records: only what changed, whatever the length of the session.
 *
 * @throws StateTooLargeError | StateCorruptError | InvalidInputError before anything is sent
 */
export function saveArgs(
  slot: Slot,
  write: StateWrite,
  ttlMs: number | undefined,
): (string | number)[] {
  const {
    op,
    expected,
    revision = nextRevision(expected),
    lease,
    release,
    keep,
    takes = [],
  } = write;
  if (typeof op !== "string" || !REVISION.test(revision))
    throw new InvalidInputError(
      `${describeSlot(slot)} was not saved: a save needs an op, and a revision made with nextRevision`,
    );
  // The script compares `keep` with what is stored.
  checkWrite(write, keep, slot);
  const encoder = new SaveEncoder(slot);
  return [
    slotField(slot),
    JSON.stringify(op),
    expected === null ? "" : `r${expected}`,
    revision,
    lease === undefined ? "" : `t${lease}`,
    release === true ? 1 : 0,
    keep,
    encoder.text(write.head, "its head", MAX_HEAD_BYTES),
    ttlMs ?? 0,
    Date.now(),
    write.info === undefined ? "" : encoder.text(write.info, "its info", MAX_HEAD_BYTES),
    ...encoder.callRecord(write.callRecord),
    takes.length,
    ...idArgs(takes),
    write.replace.length,
    ...write.replace.flatMap(([index, message]) => [index, encoder.message(message)]),
    write.append.length,
    ...write.append.map((message) => encoder.message(message)),
  ];
}

/** Encodes the values of one save as JSON, within the limits. */
class SaveEncoder {
  readonly #slot: Slot;
  #bytes = 0;

  constructor(slot: Slot) {
    this.#slot = slot;
  }

  message(message: Message): string {
    return this.text(message, "a message", MAX_MESSAGE_BYTES);
  }

  callRecord(write: CallRecordWrite | undefined): [callId: string, record: string, keep: number] {
    if (write === undefined) return ["", "", 0];
    const { record, keep } = write;
    return [
      JSON.stringify(record.callId),
      this.text(record, "a call record", MAX_HEAD_BYTES),
      keep,
    ];
  }

  text(value: object, what: string, limit: number): string {
    const text = JSON.stringify(value);
    const bytes = Buffer.byteLength(text, "utf8");
    this.#bytes += bytes;
    if (bytes > limit) throw this.#tooLarge(what, bytes, limit);
    if (this.#bytes > MAX_SAVE_BYTES)
      throw this.#tooLarge("what changed", this.#bytes, MAX_SAVE_BYTES);
    return text;
  }

  #tooLarge(what: string, bytes: number, limit: number): StateTooLargeError {
    return new StateTooLargeError(
      `${describeSlot(this.#slot)} was not saved: ${what} takes ${bytes} bytes as JSON, at most ${limit} are accepted; evict or split`,
    );
  }
}

/**
 * Reads the reply of the save script.
 *
 * @throws LeaseLostError | StateConflictError | StateCorruptError
 */
export function savedRevision(
  slot: Slot,
  write: StateWrite,
  reply: readonly RedisReply[],
): Revision {
  const [verdict, detail] = reply;
  switch (verdict) {
    case "saved":
      return String(detail);
    case "lease":
      throw leaseLost(slot);
    case "conflict":
      throw stateConflict(slot, write.expected, typeof detail === "string" ? detail : null);
    case "misfit":
      checkWrite(write, Number(detail), slot);
      throw corruptState(slot, `it refused a save that fits its ${detail} messages`);
    default:
      throw corruptState(slot, String(detail));
  }
}
