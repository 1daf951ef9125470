import { type LogRecord, StateCorruptError } from "@holdfast/core";
import { isMessage, type MessageRecord } from "../message-record.js";
import { BlobReader } from "../render/blob-reader.js";
import { readPage } from "../render/read-page.js";
import { renderMessage } from "../render/render-message.js";
import { historyCall, type Reading } from "./reading.js";
import { markLine, messageHead } from "./record-head.js";

/** A record as it is shown in an overview; null when it is not. */
export async function describeRecord(
  reading: Reading,
  record: LogRecord,
  includeDiscarded: boolean | undefined,
): Promise<string | null> {
  if (!isMessage(record) && markLine(record, "") === null) return null;
  const remark = await reading.states.remark(reading.slot, record);
  if (remark === null) return null;
  if (!isMessage(record)) return markLine(record, remark);
  return `${messageHead(record, remark)}\n${await preview(reading, record, includeDiscarded)}`;
}

async function preview(
  reading: Reading,
  record: MessageRecord,
  includeDiscarded: boolean | undefined,
): Promise<string> {
  const { log, slot, clock, settings } = reading;
  const { body } = renderMessage(record);
  try {
    const blobs = new BlobReader(log, slot, clock);
    const { text, end, isLast } = await readPage(blobs, body, 0, settings.previewChars);
    if (isLast) return text;
    const more = historyCall(reading, { at: record.seq, offset: end }, includeDiscarded);
    return `${text}…\n[cut: ${more} shows more]`;
  } catch (error) {
    // One text that is gone must not hide the other messages; reading this one tells what is wrong.
    if (!StateCorruptError.is(error)) throw error;
    return "[a long text of this message is missing or damaged]";
  }
}
