import type { TextBlock } from "@holdfast/core";
import { BlobReader } from "../render/blob-reader.js";
import { readPage } from "../render/read-page.js";
import { renderMessage } from "../render/render-message.js";
import type { FoundMessage } from "./find-message.js";
import { behindEnd, historyCall, type Reading } from "./reading.js";
import { messageOrigin } from "./record-head.js";

/**
 * A page of one message in a block of its own, so that pages put together are the rendering; what is said about it in a
 * second one.
 *
 * @throws InvalidInputError for an offset behind the end
 */
export async function messagePage(
  reading: Reading,
  { record, remark }: FoundMessage,
  input: { readonly offset?: number | undefined; readonly includeDiscarded?: boolean | undefined },
): Promise<readonly TextBlock[]> {
  const { log, slot, clock, settings } = reading;
  const { offset = 0, includeDiscarded } = input;
  const blobs = new BlobReader(log, slot, clock);
  const { whole } = renderMessage(record);
  const page = await readPage(blobs, whole, offset, settings.maxPageChars);
  if (page.text === "") throw behindEnd(`the message at ${record.seq}`, page.end, offset);
  const origin = messageOrigin(record, remark);
  const shown = `Position ${record.seq}, ${origin}; characters ${page.start} to ${page.end}`;
  const next = page.isLast
    ? "End of the message."
    : `Go on: ${historyCall(reading, { at: record.seq, offset: page.end }, includeDiscarded)}.`;
  return [
    { type: "text", text: page.text },
    { type: "text", text: `[${shown}. ${next}]` },
  ];
}
