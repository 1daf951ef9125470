import {
  checkLogDraft,
  describeSlot,
  extractBlobs,
  type LogDraft,
  logRecordText,
  type Slot,
  StateTooLargeError,
} from "@holdfast/core";

/** Largest record without its long texts, which are kept apart: bytes of its JSON in UTF-8. */
const MAX_RECORD_BYTES = 16_777_216;

/** How the text of every record begins, up to its seq. */
const HEAD = '{"v":1,"seq":';

/**
 * A Lua function for scripts that append to a log: `append_log(log_key, ids_key, first)`.
 *
 * It reads what {@link prepareLog} made from `ARGV[first]` on, passes over records whose id is known, and returns the index
 * of the first argument behind them. A record's seq is the number of its stream entry.
 */
export const appendLogLua: string = `
-- Of the last record there ever was: one that somebody deleted by hand must not make the next one fail.
local function last_seq(log_key)
  if redis.call('EXISTS', log_key) == 0 then return 0 end
  local info = redis.call('XINFO', 'STREAM', log_key)
  for at = 1, #info, 2 do
    if info[at] == 'last-generated-id' then return tonumber(string.match(info[at + 1], '^%d+')) end
  end
end

local function append_log(log_key, ids_key, first)
  local last = first + 2 * tonumber(ARGV[first])
  local seq
  for at = first + 1, last, 2 do
    if redis.call('SADD', ids_key, ARGV[at]) == 1 then
      seq = (seq or last_seq(log_key)) + 1
      local number = string.format('%.0f', seq)
      redis.call('XADD', log_key, number .. '-0', 'r', '${HEAD}' .. number .. ARGV[at + 1])
    end
  end
  return last + 1
end
`;

/** Records on their way to the server. */
export interface PreparedLog {
  /** What `append_log` reads: how many records, then of each its id and its text behind the seq. */
  readonly args: readonly string[];
  /** The long texts by their `ref`; they must be stored before the records are. */
  readonly blobs: ReadonlyMap<string, string>;
}

/**
 * Checks and copies records, without any I/O.
 *
 * @throws InvalidInputError | InvalidIdError | StateTooLargeError
 */
export function prepareLog(slot: Slot, drafts: readonly LogDraft[]): PreparedLog {
  for (const draft of drafts) checkLogDraft(draft);
  const args = [String(drafts.length)];
  const blobs = new Map<string, string>();
  for (const original of drafts) {
    const { draft, references, blobs: extracted } = extractBlobs(original);
    for (const [ref, text] of extracted) blobs.set(ref, text);
    const record = { ...draft, seq: 0, ...(references.length > 0 && { blobs: references }) };
    const text = logRecordText(record).slice(`${HEAD}0`.length);
    if (Buffer.byteLength(text, "utf8") > MAX_RECORD_BYTES)
      throw new StateTooLargeError(
        `a log record of ${describeSlot(slot)} is over ${MAX_RECORD_BYTES} bytes without its long texts; split the message`,
      );
    args.push(draft.id, text);
  }
  return { args, blobs };
}
