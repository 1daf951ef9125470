import { StateCorruptError } from "@holdfast/core";
import { literalPattern } from "@holdfast/core/store-kit";
import { isMessage, type MessageRecord } from "../log-records.js";
import { BlobReader } from "../render/blob-reader.js";
import { renderMessage } from "../render/render-message.js";
import { locateText } from "./locate-text.js";
import type { Hit, Search, SearchStep } from "./search.js";
import { snippetAt } from "./snippet-at.js";

/** Hits requested at a time; some are dropped as echoes. */
const BATCH = 10;

/** Yields what the log finds, without echoes and discarded calls. */
export async function* literalHits(search: Search): AsyncGenerator<SearchStep> {
  const { log, scope, query, from, signal } = search;
  let before = from && {
    sessionId: from.sessionId,
    // The cursor of a regex search may point into a record.
    seq: from.offset === undefined ? from.seq : from.seq + 1,
  };
  for (;;) {
    const finds = await log.search({ ...scope, text: query, limit: BATCH, before, signal });
    for (const { slot, record, snippet } of finds.hits) {
      const position = { sessionId: slot.sessionId, seq: record.seq };
      const hit = isMessage(record) ? await toHit(search, { slot, record, snippet }) : undefined;
      yield { position, hit };
    }
    if (finds.next === undefined) return;
    before = { ...finds.next };
    yield { position: before };
  }
}

async function toHit(
  { log, query, remarks, clock }: Search,
  { slot, record, snippet }: Pick<Hit, "slot" | "snippet"> & { readonly record: MessageRecord },
): Promise<Hit | undefined> {
  const remark = await remarks.remark(slot, record);
  if (remark === null) return undefined;
  const found = { slot, record, remark };
  const { body } = renderMessage(record);
  const blobs = new BlobReader(log, slot, clock);
  try {
    const place = await locateText(blobs, body, query);
    if (place === "echo") return undefined;
    if (place !== null) return { ...found, ...(await snippetAt(blobs, body, place)) };
  } catch (error) {
    if (!StateCorruptError.is(error)) throw error;
  }
  // The match spans two blocks, or is rendered differently: show the snippet of the log.
  return { ...found, snippet: snippet.replace(literalPattern(query), "»$&«"), offset: 0 };
}
