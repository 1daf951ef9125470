import type { LogRange } from "../../ports/conversation-log.js";
import { checkLimit } from "../check-query.js";

/** Default number of records that `ConversationLog.read` returns. */
export const DEFAULT_LOG_LIMIT = 100;

/**
 * Returns the part of `records`, given in ascending seq, that a range selects.
 *
 * @throws InvalidInputError for a limit that is not a whole number of at least 1
 */
export function sliceLog<T extends { readonly seq: number }>(
  records: readonly T[],
  range: LogRange = {},
): T[] {
  const limit = checkLimit(range.limit, DEFAULT_LOG_LIMIT);
  const start = range.after === undefined ? 0 : firstBeyond(records, range.after);
  const end = range.before === undefined ? records.length : firstFrom(records, range.before);
  return range.after === undefined
    ? records.slice(Math.max(start, end - limit), end)
    : records.slice(start, Math.min(end, start + limit));
}

function firstBeyond(records: readonly { readonly seq: number }[], seq: number): number {
  return firstFrom(records, seq + 1);
}

/** Returns the index of the first record whose seq is at least `seq`. */
function firstFrom(records: readonly { readonly seq: number }[], seq: number): number {
  let low = 0;
  let high = records.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((records[middle]?.seq ?? 0) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}
