import type { FileHandle } from "node:fs/promises";
import { type Slot, StateCorruptError, StateTooNewError } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import { uuidv7 } from "@holdfast/core/store-kit";
import { readRange } from "../io/read-range.js";

/** The first line of a log file, which names its session. */
export interface LogHeader {
  readonly slot: Slot;
  /** Unique per file: a log that was deleted and created again is another file, even with the same inode. */
  readonly file: string;
  /** Offset of the line after it. */
  readonly end: number;
}

const FORMAT = "holdfast.log";
const VERSION = 1;
const START = `{"format":"${FORMAT}",`;
/** Three ids of 255 units, each unit written with six bytes at most, and the rest. */
const MAX_BYTES = 8_192;

/** The header of a new file, with its line end. */
export function headerLine({ agentId, userId, sessionId }: Slot): Buffer {
  const header = { format: FORMAT, v: VERSION, file: uuidv7(), agentId, userId, sessionId };
  return Buffer.from(`${JSON.stringify(header)}\n`);
}

/** Tells whether a line is a header. Two processes that find an empty file may both write one. */
export function isHeaderLine(text: string): boolean {
  return text.startsWith(START);
}

/**
 * Reads the header; null when the file is empty, which a power loss leaves behind where nothing is synced.
 *
 * @param label - what to call the file in errors
 * @throws StateCorruptError | StateTooNewError
 */
export async function readHeader(handle: FileHandle, label: string): Promise<LogHeader | null> {
  const bytes = await readRange(handle, 0, MAX_BYTES);
  if (bytes.length === 0) return null;
  const end = bytes.indexOf("\n");
  const header = end === -1 ? undefined : parse(bytes.toString("utf8", 0, end));
  if (!isRecord(header) || header["format"] !== FORMAT)
    throw corrupt(label, "it does not begin with the header of a log");
  const { v, file, agentId, userId, sessionId } = header;
  if (typeof v === "number" && v > VERSION)
    throw new StateTooNewError(
      `${label} was written by a newer release (version ${v}); this one reads version ${VERSION}: update it`,
    );
  if (
    v !== VERSION ||
    typeof file !== "string" ||
    typeof agentId !== "string" ||
    (userId !== null && typeof userId !== "string") ||
    typeof sessionId !== "string"
  )
    throw corrupt(label, "its header names no session");
  return { slot: { agentId, userId, sessionId }, file, end: end + 1 };
}

/** Returns the error for a damaged file. */
export function corrupt(label: string, problem: string): StateCorruptError {
  return new StateCorruptError(
    `${label} is damaged: ${problem}; the file is left as it is: restore it from a backup, or delete it`,
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
