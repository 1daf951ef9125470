import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A directory of a test's own. */
export interface TempDirectory extends AsyncDisposable {
  readonly path: string;
  /** Deletes it with everything in it; idempotent. */
  cleanup(): Promise<void>;
}

/**
 * Makes an empty directory under the system's temporary one.
 *
 * @example await using directory = await tempDirectory();
 */
export async function tempDirectory(prefix = "holdfast-test-"): Promise<TempDirectory> {
  const path = await mkdtemp(join(tmpdir(), prefix));
  // A child that was just killed may still be writing: retries let it finish dying.
  const cleanup = (): Promise<void> =>
    rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  return { path, cleanup, [Symbol.asyncDispose]: cleanup };
}
