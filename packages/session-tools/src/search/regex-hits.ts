import { type Slot, StateCorruptError } from "@holdfast/core";
import { isMessage, type MessageRecord } from "../message-record.js";
import { records } from "../records.js";
import { BlobReader } from "../render/blob-reader.js";
import { renderMessage } from "../render/render-message.js";
import { LineSearch } from "./line-search.js";
import { locateLine } from "./locate-line.js";
import type { Find, Search } from "./search.js";
import { slotsFrom } from "./slots-from.js";
import { snippetAt } from "./snippet-at.js";

/**
 * Goes through the records, newest first, as the log does for literal text.
 *
 * @throws InvalidInputError for a query that is no expression
 */
export async function* regexHits(search: Search): AsyncGenerator<Find> {
  const { log, scope, from, clock } = search;
  const lines = new LineSearch(search.query);
  for await (const slot of slotsFrom(log, scope, from, clock)) {
    const isFirst = slot.sessionId === from?.sessionId;
    // A record that was begun is looked at again, from where the search stopped.
    const offset = isFirst ? from?.offset : undefined;
    const before = !isFirst ? undefined : offset === undefined ? from?.seq : (from?.seq ?? 0) + 1;
    for await (const record of records(log, slot, { before }, clock)) {
      const start = offset !== undefined && record.seq === from?.seq ? offset : 0;
      yield isMessage(record)
        ? await findIn(search, lines, slot, record, start)
        : { position: { sessionId: slot.sessionId, seq: record.seq } };
    }
  }
}

async function findIn(
  { log, states, clock }: Search,
  lines: LineSearch,
  slot: Slot,
  record: MessageRecord,
  offset: number,
): Promise<Find> {
  const position = { sessionId: slot.sessionId, seq: record.seq };
  const { body } = renderMessage(record);
  const blobs = new BlobReader(log, slot, clock);
  try {
    const found = await locateLine(blobs, body, lines, offset);
    if (found === null) return { position };
    if ("stoppedAt" in found) return { position: { ...position, offset: found.stoppedAt } };
    const remark = await states.remark(slot, record);
    if (remark === null) return { position };
    return { position, hit: { slot, record, remark, ...(await snippetAt(blobs, body, found)) } };
  } catch (error) {
    // One damaged text must not hide the others; reading it tells what is wrong.
    if (!StateCorruptError.is(error)) throw error;
    return { position };
  }
}
