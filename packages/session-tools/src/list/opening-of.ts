import { type ConversationLog, type LogRecord, type Slot, StateCorruptError } from "@holdfast/core";
import type { YieldingClock } from "@holdfast/core/plugin-kit";
import { messageProblem } from "@holdfast/core/store-kit";
import type { CallRemarks } from "../call-remarks.js";
import { isMessage, type MessageRecord } from "../log-records.js";
import { BlobPaths } from "../render/blob-paths.js";
import { BlobReader } from "../render/blob-reader.js";
import { PartList } from "../render/part-list.js";
import { readPage } from "../render/read-page.js";

/** Records that are searched for the first words of the user. */
const RECORDS = 10;
/** Most characters of them that are shown. */
const LINE_CHARS = 120;

/** A session whose beginning is read, and the parts needed to read it. */
export interface OpeningRequest {
  readonly log: ConversationLog;
  readonly slot: Slot;
  readonly remarks: CallRemarks;
  readonly clock: YieldingClock;
}

/** Returns when a session began and the first line the user wrote, for the end of a row. */
export async function openingOf({ log, slot, remarks, clock }: OpeningRequest): Promise<string> {
  const first = await log.read(slot, { after: -1, limit: RECORDS });
  const began = first[0] === undefined ? "" : `, began ${first[0].at}`;
  for (const record of first) {
    await clock.tick();
    const place = textPlace(record);
    if (place === null || (await remarks.remark(slot, place.record)) === null) continue;
    const line = await firstLine(new BlobReader(log, slot, clock), place);
    if (line !== "") return `${began}: ${line}`;
  }
  return began;
}

interface TextPlace {
  readonly record: MessageRecord;
  readonly index: number;
  readonly text: string;
}

/** Finds the first text of a message that the user wrote; null for other records. */
function textPlace(record: LogRecord): TextPlace | null {
  if (!isMessage(record) || record.message.role !== "user") return null;
  if (messageProblem(record.message) !== null) return null;
  for (const [index, block] of record.message.content.entries())
    if (block.type === "text") return { record, index, text: block.text };
  return null;
}

async function firstLine(blobs: BlobReader, { record, index, text }: TextPlace): Promise<string> {
  const list = new PartList(new BlobPaths(record));
  list.verbatim(text, ["content", index, "text"]);
  try {
    const page = await readPage(blobs, list.parts, 0, 4 * LINE_CHARS);
    const [line = ""] = page.text.trimStart().split(/[\r\n\u2028\u2029\v\f]/u, 1);
    const short = Array.from(line).slice(0, LINE_CHARS).join("");
    const isWhole = short.length === line.length && (page.isLast || line.length < page.text.length);
    return isWhole ? short : `${short}…`;
  } catch (error) {
    if (!StateCorruptError.is(error)) throw error;
    return "";
  }
}
