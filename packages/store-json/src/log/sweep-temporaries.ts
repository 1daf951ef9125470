import { removeStaleTemporaries } from "../io/disk.js";
import { ioReason, isMissing } from "../io/io-error.js";
import type { ReportSink } from "../report.js";

/** Removes what dead processes left in a directory. Never fails: it is no reason not to write what is to be written. */
export async function sweepTemporaries(directory: string, report: ReportSink): Promise<void> {
  try {
    await removeStaleTemporaries(directory);
  } catch (error) {
    if (isMissing(error)) return;
    report({
      kind: "cleanup_failed",
      message: `temporary files of dead processes beside a log could not be removed: ${ioReason(error)}`,
      cause: error,
    });
  }
}
