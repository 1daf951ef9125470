import {
  type BlobReference,
  checkLogDraft,
  describeSlot,
  extractBlobs,
  type LogDraft,
  type LogRecord,
  logRecordText,
  type Message,
  type Slot,
  StateTooLargeError,
} from "@holdfast/core";

/** Largest record without its long texts, which are kept apart: bytes of its JSON in UTF-8. */
const MAX_RECORD_BYTES = 16_777_216;

/** How the text of every record begins, up to its seq. */
const HEAD = '{"v":1,"seq":';

/**
 * A Lua function for scripts that append to a log: `append_log(log_key, ids_key, first, messages_at)`.
 *
 * It reads what {@link prepareLog} made from `ARGV[first]` on, passes over records whose id is known, and returns the index
 * of the first argument behind them. A record's seq is the number of its stream entry. The n-th message that is saved in the
 * same step stands at `ARGV[messages_at + n]`.
 */
export const appendLogLua: string = `
-- Of the last record there ever was: one that somebody deleted by hand must not make the next one fail.
local function last_seq(log_key)
  local info = redis.pcall('XINFO', 'STREAM', log_key)
  -- There is no such log yet.
  if info['err'] then return 0 end
  for at = 1, #info, 2 do
    if info[at] == 'last-generated-id' then return tonumber(string.match(info[at + 1], '^%d+')) end
  end
end

local function append_log(log_key, ids_key, first, messages_at)
  local last = first + 3 * tonumber(ARGV[first])
  local seq
  for at = first + 1, last, 3 do
    if redis.call('SADD', ids_key, ARGV[at]) == 1 then
      seq = (seq or last_seq(log_key)) + 1
      local number = string.format('%.0f', seq)
      local text = ARGV[at + 1]
      if ARGV[at + 2] ~= '' then text = text .. ARGV[messages_at + ARGV[at + 2]] .. '}' end
      redis.call('XADD', log_key, number .. '-0', 'r', '${HEAD}' .. number .. text)
    end
  end
  return last + 1
end
`;

/** Records on their way to the server. */
export interface PreparedLog {
  /**
   * What `append_log` reads: how many records, then of each its id, its text behind the seq, and, where that text ends
   * before the message, the number of the message among those that are saved in the same step.
   */
  readonly args: readonly (string | number)[];
  /** The long texts by their `ref`; they must be stored before the records are. */
  readonly blobs: ReadonlyMap<string, string>;
}

/**
 * Checks and copies records, without any I/O.
 *
 * @param saved - messages that are saved in the same step, which need not be sent twice
 * @throws InvalidInputError | InvalidIdError | StateTooLargeError
 */
export function prepareLog(
  slot: Slot,
  drafts: readonly LogDraft[],
  saved: readonly Message[] = [],
): PreparedLog {
  for (const draft of drafts) checkLogDraft(draft);
  const args: (string | number)[] = [drafts.length];
  const blobs = new Map<string, string>();
  for (const original of drafts) {
    const { draft, references, blobs: extracted } = extractBlobs(original);
    for (const [ref, text] of extracted) blobs.set(ref, text);
    // The very same object, and whole: what a mark or a reference stands behind has to be sent as it is.
    const place = isMessageAlone(draft, references) ? saved.indexOf(draft.message) : -1;
    const text =
      place < 0
        ? recordText({ ...draft, ...(references.length > 0 && { blobs: references }) })
        : `${recordText({ ...draft, message: undefined }).slice(0, -1)},"message":`;
    if (Buffer.byteLength(text, "utf8") > MAX_RECORD_BYTES)
      throw new StateTooLargeError(
        `a log record of ${describeSlot(slot)} is over ${MAX_RECORD_BYTES} bytes without its long texts; split the message`,
      );
    args.push(draft.id, text, place < 0 ? "" : place);
  }
  return { args, blobs };
}

function isMessageAlone(
  draft: LogDraft,
  references: readonly BlobReference[],
): draft is LogDraft & { readonly message: Message } {
  return draft.message !== undefined && draft.mark === undefined && references.length === 0;
}

/** The text of a record behind its seq. */
function recordText(record: Omit<LogRecord, "seq">): string {
  return logRecordText({ ...record, seq: 0 }).slice(`${HEAD}0`.length);
}
