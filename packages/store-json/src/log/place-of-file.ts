import type { FileHandle } from "node:fs/promises";
import { StateCorruptError, StateTooNewError } from "@holdfast/core";
import type { ReportSink } from "../report.js";
import { readHeader } from "./log-header.js";
import { type LogPlace, logPlace } from "./log-place.js";

/** The session a file says it is the log of; null, and a report, when that cannot be. */
export async function placeOfFile(
  root: string,
  path: string,
  handle: FileHandle,
  report: ReportSink,
): Promise<LogPlace | null> {
  try {
    const header = await readHeader(handle, "a log file");
    if (header === null) return null;
    const place = logPlace(root, header.slot);
    if (place.file === path) return place;
    report({
      kind: "entry_skipped",
      message: "a log file was passed over: it belongs to another session",
    });
  } catch (error) {
    if (!StateCorruptError.is(error) && !StateTooNewError.is(error)) throw error;
    report({
      kind: "entry_skipped",
      message: `a log file was passed over: ${error.message}`,
      cause: error,
    });
  }
  return null;
}
