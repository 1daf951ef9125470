import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { ReportSink } from "../report.js";
import { isOwnTemporary, removeFile } from "./disk.js";
import { isOlderThan, modifiedMs } from "./file-time.js";
import { ioCode, ioReason, isMissing } from "./io-error.js";

const TEMPORARY = /^tmp\.(\d+)\.[0-9a-f]+$/;
/** A temporary file older than this was left by a process that died: writing one takes milliseconds. */
const STALE_AFTER_MS = 3_600_000;
/** Age at which it is removed although a process has its pid: by now that is another one, or one of another container. */
const FORGOTTEN_AFTER_MS = 86_400_000;

/** Removes temporary files that a dead process left behind. */
export async function removeStaleTemporaries(
  directory: string,
  names?: readonly string[],
): Promise<void> {
  for (const name of names ?? (await readdir(directory))) {
    const pid = TEMPORARY.exec(name)?.[1];
    if (pid === undefined) continue;
    const path = join(directory, name);
    const mtimeMs = await modifiedMs(path);
    if (mtimeMs === null || isOwnTemporary(path)) continue;
    const staleMs = isRunning(Number(pid)) ? FORGOTTEN_AFTER_MS : STALE_AFTER_MS;
    if (await isOlderThan(directory, mtimeMs, staleMs)) await removeFile(path);
  }
}

/** Tells whether another process with this pid runs. */
function isRunning(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, as another user.
    return ioCode(error) === "EPERM";
  }
}

/** Does {@link removeStaleTemporaries}; a failure is reported, since it must not keep a write from being done. */
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
