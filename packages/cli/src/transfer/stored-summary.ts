import type { DistributedStore, Slot } from "@holdfast/core";
import type { LoadedState } from "@holdfast/core/store-kit";
import { BlobCheck } from "./blob-check.js";
import { logRecords } from "./log-records.js";
import { SessionDigest, type SessionSummary } from "./session-digest.js";

/** How much of a session to read back. */
export interface ReadBackOptions {
  /** Stop after this many records: more may have come since. @default all */
  readonly records?: number | undefined;
}

/**
 * What the session in a store amounts to, everything read back: state, log and every long text, each against its hash.
 *
 * @param state - as it was read from there just now
 * @throws StateCorruptError when a long text is missing or is another
 */
export async function storedSummary(
  { log }: Pick<DistributedStore, "log">,
  slot: Slot,
  state: LoadedState | null,
  { records: most = Number.POSITIVE_INFINITY }: ReadBackOptions = {},
): Promise<SessionSummary> {
  const digest = new SessionDigest();
  if (state !== null) digest.state(state);
  const blobs = new BlobCheck(log, slot);
  if (most > 0)
    for await (const record of logRecords(log, slot)) {
      digest.record(record);
      await blobs.check(record);
      if (digest.records >= most) break;
    }
  return digest.summary();
}
