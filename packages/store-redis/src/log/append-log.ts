import { type LogRecord, type Message, type Slot, StateTooLargeError } from "@holdfast/core";
import {
  type BlobReference,
  checkLogDraft,
  describeSlot,
  extractBlobs,
  type LogDraft,
  logRecordText,
} from "@holdfast/core/store-kit";

/** Largest record without its long texts, which are stored separately: bytes of its JSON in UTF-8. */
const MAX_RECORD_BYTES = 16_777_216;

/** Start of every record's text, up to its seq. */
const RECORD_START = '{"v":1,"seq":';

/**
 * Lua function for scripts that append to a log: `append_log(log_key, ids_key, first, messages_at)`.
 *
 * It reads the arguments made by {@link prepareLog} from `ARGV[first]` on, skips records whose id is known, and returns the
 * index of the first argument behind them. A record's seq is its position in the list, counted from 1. The n-th message saved in
 * the same step is `ARGV[messages_at + n]`.
 */
export const appendLogLua: string = `
local function append_log(log_key, ids_key, first, messages_at)
  local last = first + 3 * tonumber(ARGV[first])
  local seq, texts = nil, {}
  for at = first + 1, last, 3 do
    if redis.call('SADD', ids_key, ARGV[at]) == 1 then
      local text = ARGV[at + 1]
      if ARGV[at + 2] ~= '' then text = text .. ARGV[messages_at + ARGV[at + 2]] .. '}' end
      seq = (seq or redis.call('LLEN', log_key)) + 1
      texts[#texts + 1] = '${RECORD_START}' .. seq .. text
    end
  end
  -- In batches: the arguments of a Lua call are limited.
  for at = 1, #texts, 1000 do
    redis.call('RPUSH', log_key, unpack(texts, at, math.min(at + 999, #texts)))
  end
  return last + 1
end
`;

/** Records ready to be sent. */
export interface PreparedLog {
  /**
   * Arguments of `append_log`: the number of records, then for each its id, its text behind the seq, and, where that text ends
   * before the message, the index of the message among those saved in the same step.
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
  const args: (string | number)[] = [drafts.length];
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

/** Text of a record behind its seq. */
function recordText(record: Omit<LogRecord, "seq">): string {
  return logRecordText({ ...record, seq: 0 }).slice(`${RECORD_START}0`.length);
}

/** Text of a record behind its seq, up to its message. */
function recordBefore({ id, callId, at, kind }: LogDraft): string {
  return `,${JSON.stringify({ id, callId, at, kind }).slice(1, -1)},"message":`;
}
