import { type LogRecord, type Message, type Slot, StateTooLargeError } from "@holdfast/core";
import {
  type BlobReference,
  checkLogDraft,
  describeSlot,
  extractBlobs,
  type LogDraft,
  logRecordText,
} from "@holdfast/core/store-kit";
import { RECORD_START, shortRecordsLua } from "./short-records.js";

/** Largest record without its long texts, which are stored separately: bytes of its JSON in UTF-8. */
const MAX_RECORD_BYTES = 16_777_216;

/** Characters of a digest: 88 bits as hexadecimal digits, which take no more memory than 64. */
const DIGEST_CHARACTERS = 22;

/** Text of a record between its head, which ends with `at`, and its message, when it has nothing else. */
export const MESSAGE_ALONE = ',"kind":"message","message":';

/**
 * Lua function for scripts of `defineSlotScript` that append to the log: `append_log(first, saved, has_refs)`.
 *
 * It reads the arguments made by {@link prepareLog} from `ARGV[first]` on and skips records whose id is known. A record's seq is
 * its position in the list, counted from 1. `saved` is the texts of the messages saved in the same step. It returns the seqs of
 * records that are one of these messages and nothing else, by the index of the message.
 *
 * Ids are kept in a set. For a state that refers to the log, which earlier releases do not touch, records are stored short, and
 * of their ids a digest.
 */
export const appendLogLua: string = `${shortRecordsLua}
local function append_log(first, saved, has_refs)
  local count, id_start = string.match(ARGV[first], '^(%d+) (.*)$')
  if count == '0' then return {} end
  local call, time = ',"callId":' .. ARGV[first + 1], ',"at":' .. ARGV[first + 2]
  local ids, is_known = {}, {}
  for at = first + 3, first + 1 + 2 * count, 2 do
    local id = id_start .. ARGV[at]
    ids[#ids + 1] = id
    ids[#ids + 1] = string.sub(redis.sha1hex(id), 1, ${DIGEST_CHARACTERS})
  end
  -- In batches, as below: the arguments of a Lua call are limited.
  for at = 1, #ids, 1000 do
    local found = redis.call('SMISMEMBER', LOG_IDS, unpack(ids, at, math.min(at + 999, #ids)))
    for each = 1, #found do is_known[ids[at + each - 1]] = found[each] == 1 end
  end
  local added, seqs, seq = {}, {}, redis.call('LLEN', LOG)
  for each = 1, #ids, 2 do
    local id, digest, at = ids[each], ids[each + 1], first + 2 + each
    if not (is_known[id] or is_known[digest]) then
      is_known[id] = true
      seq = seq + 1
      local place, text = string.match(ARGV[at + 1], '^(%d*)(.*)$')
      if text == '' then text = '${MESSAGE_ALONE}' end
      if place ~= '' then
        text = text .. saved[place + 1] .. '}'
        seqs[tonumber(place)] = seq
      end
      added[#added + 1] = {seq = seq, id = id, digest = digest, id_rest = ARGV[at], text = text}
    end
  end
  local is_short, texts, new_ids, whole_seq = has_refs or next(seqs), {}, {}, nil
  for at, record in ipairs(added) do
    new_ids[at] = is_short and record.digest or record.id
    local text = record.text
    local start = string.match(text, '^,"(%a+)"')
    if whole_seq and start ~= 'id' then
      texts[at] = short_record(record.seq - whole_seq, #id_start, record.id_rest, text)
    else
      if start == 'kind' then
        text = time .. text
        if is_short then whole_seq = record.seq end
      end
      if start ~= 'id' then text = ',"id":"' .. record.id .. '"' .. call .. text end
      texts[at] = '${RECORD_START}' .. record.seq .. text
    end
  end
  for at = 1, #texts, 1000 do
    local last = math.min(at + 999, #texts)
    redis.call('SADD', LOG_IDS, unpack(new_ids, at, last))
    redis.call('RPUSH', LOG, unpack(texts, at, last))
  end
  return seqs
end
`;

/** Returns the text of the message in a stored record that has nothing else. */
export function messageText(record: string): string {
  const at = record.indexOf(MESSAGE_ALONE);
  return at < 0 ? "" : record.slice(at + MESSAGE_ALONE.length, -1);
}

/** Records ready to be sent. */
export interface PreparedLog {
  /**
   * Arguments of `append_log`: the number of records and the start that all ids share, `callId` and `at` of the first as JSON,
   * then for each record the rest of its id and its text behind the seq. A text that ends before its message begins with the
   * index of the message among those saved in the same step. It leaves out id, `callId` and `at` as far as they are those of the
   * first record, and all when it is nothing but a message.
   */
  readonly args: readonly (string | number)[];
  /** Long texts by their `ref`; they must be stored before the records. */
  readonly blobs: ReadonlyMap<string, string>;
}

/**
 * Checks and copies records, without any I/O.
 *
 * @param saved - messages saved in the same step, which need not be sent twice
 * @throws InvalidInputError | InvalidIdError | StateTooLargeError
 */
export function prepareLog(
  slot: Slot,
  drafts: readonly LogDraft[],
  saved: readonly Message[] = [],
): PreparedLog {
  for (const draft of drafts) checkLogDraft(draft);
  const shared = sharedParts(drafts);
  const args: (string | number)[] = [`${drafts.length} ${shared.id}`];
  if (drafts.length > 0) args.push(shared.call, shared.time);
  const blobs = new Map<string, string>();
  for (const original of drafts) {
    const { draft, references, blobs: extracted } = extractBlobs(original);
    for (const [ref, text] of extracted) blobs.set(ref, text);
    // Only the same object without a mark or blob references: any other record is sent as it is.
    const place = isMessageAlone(draft, references) ? saved.indexOf(draft.message) : -1;
    const text =
      place < 0
        ? recordText({ ...draft, ...(references.length > 0 && { blobs: references }) })
        : recordBefore(draft);
    if (Buffer.byteLength(text, "utf8") > MAX_RECORD_BYTES)
      throw new StateTooLargeError(
        `a log record of ${describeSlot(slot)} is over ${MAX_RECORD_BYTES} bytes without its long texts; split the message`,
      );
    const sent = withoutShared(text, draft.id, shared);
    args.push(draft.id.slice(shared.id.length), place < 0 ? sent : `${place}${sent}`);
  }
  return { args, blobs };
}

function isMessageAlone(
  draft: LogDraft,
  references: readonly BlobReference[],
): draft is LogDraft & { readonly message: Message } {
  return draft.message !== undefined && draft.mark === undefined && references.length === 0;
}

/** Text of a record behind its seq. */
function recordText(record: Omit<LogRecord, "seq">): string {
  return logRecordText({ ...record, seq: 0 }).slice(`${RECORD_START}0`.length);
}

/** Text of a record behind its seq, up to its message. */
function recordBefore({ id, callId, at, kind }: LogDraft): string {
  return `,${JSON.stringify({ id, callId, at, kind }).slice(1, -1)},"message":`;
}

/** Parts that records have in common with the first of them. */
interface SharedParts {
  /** Longest start that all ids have, in whole characters. */
  readonly id: string;
  /** `callId` of the first, as JSON. */
  readonly call: string;
  /** `at` of the first, as JSON. */
  readonly time: string;
}

function sharedParts(drafts: readonly LogDraft[]): SharedParts {
  const { id: start = "", callId = "", at = "" } = drafts[0] ?? {};
  let id = start;
  for (const draft of drafts) while (!draft.id.startsWith(id)) id = id.slice(0, -1);
  id = id.replace(/[\ud800-\udbff]$/, "");
  return { id, call: JSON.stringify(callId), time: JSON.stringify(at) };
}

/** Leaves out of a record's text, from its start, what the script puts there. */
function withoutShared(text: string, id: string, { call, time }: SharedParts): string {
  const beforeTime = `,"id":"${id}","callId":${call}`;
  if (!text.startsWith(beforeTime)) return text;
  const rest = text.slice(beforeTime.length);
  const timeText = `,"at":${time}`;
  if (!rest.startsWith(timeText)) return rest;
  const last = rest.slice(timeText.length);
  return last === MESSAGE_ALONE ? "" : last;
}
