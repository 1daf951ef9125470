import type { FileHandle } from "node:fs/promises";
import { readRange } from "../io/read-range.js";

/*
 * The last fields of a save are `"info":<facts>,"from":<offset>,"infoBytes":<length>`, so that a listing finds the facts at the
 * end of a journal, whatever the record holds before them.
 *
 * `from` is the size of the journal when the writer had read all of it. A record that begins there follows what the writer
 * knew, so it counts; of one that begins later only reading the journal tells, as another process wrote first.
 */
const TAIL = /,"from":([0-9]{1,15}),"infoBytes":([1-9][0-9]{0,9}),"crc":"[0-9a-f]{8}"\}\n$/;
/** Most bytes that {@link TAIL} matches. */
const TAIL_BYTES = 80;
const OTHER_TAIL = /,"crc":"[0-9a-f]{8}"\}\n$/;
/** Not the record of a save: it ends the generation, or stands in the text of a message. */
const END_RECORD = /"kind":"(?:seal|delete)"/;
/** A record that ends a generation, and the facts about a session as a rule, are within this many bytes of the end. */
const END_BYTES = 2_048;
const FRONT = /^\n\{"bytes":([1-9][0-9]{0,9}),/;
const FRONT_BYTES = 22;

/** Encodes the last fields of a save. */
export function encodeInfoTail(info: string, from: number): string {
  return `"info":${info},"from":${from},"infoBytes":${Buffer.byteLength(info, "utf8")}`;
}

/**
 * Returns the facts in the last record of a journal as JSON; undefined when it has none; `unsure` when only reading the
 * journal tells what the last record is, and whether it counts.
 */
export async function infoAtEnd(
  handle: FileHandle,
  size: number,
): Promise<string | undefined | "unsure"> {
  const end = await readRange(handle, Math.max(0, size - END_BYTES), size);
  const tail = TAIL.exec(end.toString("latin1", Math.max(0, end.length - TAIL_BYTES)));
  if (tail === null) {
    const text = end.toString("latin1");
    return OTHER_TAIL.test(text) && !END_RECORD.test(text) ? undefined : "unsure";
  }
  const from = Number(tail[1]);
  const front = await readRange(handle, from, from + FRONT_BYTES);
  const length = Number(FRONT.exec(front.toString("latin1"))?.[1]);
  if (from + length + 2 !== size) return "unsure";
  const infoEnd = size - tail[0].length;
  const infoStart = infoEnd - Number(tail[2]);
  const first = size - end.length;
  const bytes =
    infoStart >= first
      ? end.subarray(infoStart - first, infoEnd - first)
      : await readRange(handle, infoStart, infoEnd);
  return bytes.toString("utf8");
}
