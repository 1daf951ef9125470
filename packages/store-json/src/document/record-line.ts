import { crc32 } from "node:zlib";

/*
 * A line is `{"bytes":<length of the line>,` + fields + `,"crc":"<crc32 of the fields>"}`, and so JSON of its own.
 *
 * It says its length at the front and its checksum at the end, so that a line cut short (never acknowledged, harmless)
 * and a line that changed after it was written (acknowledged, damage) look different:
 * - cut short: a front part of a line, shorter than it says and without a fitting end;
 * - changed: anything else. One flipped bit, wherever it is, leaves either the length or the end in place.
 */
const HEAD = /^\{"bytes":([1-9][0-9]{0,9}),/;
const HEAD_CUT = /^\{"bytes":[0-9]{0,10}$/;
const HEAD_START = '{"bytes":';
const HEAD_LONGEST = 20;
const TAIL = /^,"crc":"([0-9a-f]{8})"\}$/;
const TAIL_BYTES = 18;
/** JSON never holds a NUL byte; a power loss leaves runs of them where a write did not reach the device. */
const HOLE = Buffer.alloc(2);

/** Condition of a journal line. `cut` lines are skipped, `changed` ones make the journal unreadable. */
export type LineKind = "whole" | "cut" | "changed";

/** Encodes one record, between two line ends: the first keeps it apart from a predecessor that was cut short. */
export function encodeLine(fields: string): Buffer {
  const body = Buffer.from(fields, "utf8");
  const fixed = HEAD_START.length + 1 + body.length + TAIL_BYTES;
  let bytes = fixed + String(fixed).length;
  // One more digit may make the number one digit longer.
  if (fixed + String(bytes).length !== bytes) bytes = fixed + String(bytes).length;
  return Buffer.concat([
    Buffer.from(`\n${HEAD_START}${bytes},`),
    body,
    Buffer.from(`,"crc":"${checksum(body)}"}\n`),
  ]);
}

/** Classifies a line without its line end, also the rest after the last line end of a file. */
export function lineKind(line: Buffer): LineKind {
  const head = HEAD.exec(line.toString("latin1", 0, HEAD_LONGEST + 1));
  const length = head === null ? 0 : Number(head[1]);
  const tail = TAIL.exec(line.toString("latin1", Math.max(0, line.length - TAIL_BYTES)));
  if (head !== null && tail !== null) {
    const intact = checksum(line.subarray(head[0].length, -TAIL_BYTES)) === tail[1];
    if (intact) return length === line.length ? "whole" : "changed";
  }
  // Of a hole of one byte only the last one is told from damage: no flipped bit turns a brace into NUL.
  if (line.includes(HOLE) || line.at(-1) === 0) return "cut";
  return line.length !== length && isFrontPart(line, head, length) ? "cut" : "changed";
}

/** `crc32` as eight hexadecimal digits. */
export function checksum(bytes: Uint8Array): string {
  return crc32(bytes).toString(16).padStart(8, "0");
}

function isFrontPart(bytes: Buffer, head: RegExpExecArray | null, length: number): boolean {
  if (head !== null) return bytes.length <= length;
  const text = bytes.toString("latin1");
  return HEAD_START.startsWith(text) || HEAD_CUT.test(text);
}
