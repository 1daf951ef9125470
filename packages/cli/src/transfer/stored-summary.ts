import {
  type ConversationLog,
  type DistributedStore,
  type LogRecord,
  type Slot,
  StateCorruptError,
} from "@holdfast/core";
import { blobRef, type LoadedState } from "@holdfast/core/store-kit";
import { logRecords } from "./log-records.js";
import { SessionDigest, type SessionSummary } from "./session-digest.js";

/** Options of {@link storedSummary}. */
export interface ReadBackOptions {
  /** Records to read; more may have been appended since. @default all */
  readonly records?: number | undefined;
}

/**
 * Summarises a stored session by reading back everything: state, log and every long text, each compared with its hash.
 *
 * @param state - its state, just read
 * @throws StateCorruptError when a long text is missing or different
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

/** Reads back the long texts of a session's log, each once, and compares them with their hashes. */
export class BlobCheck {
  readonly #log: Pick<ConversationLog, "readBlob">;
  readonly #slot: Slot;
  readonly #checked = new Set<string>();

  constructor(log: Pick<ConversationLog, "readBlob">, slot: Slot) {
    this.#log = log;
    this.#slot = slot;
  }

  /** @throws StateCorruptError when a long text of the record is missing or different */
  async check(record: LogRecord): Promise<void> {
    for (const { ref } of record.blobs ?? []) {
      if (this.#checked.has(ref)) continue;
      const text = await this.#log.readBlob(this.#slot, ref);
      if (text === null || blobRef(text) !== ref)
        throw new StateCorruptError(
          `a long text of log record ${record.seq} is ${text === null ? "missing" : "another"}`,
        );
      this.#checked.add(ref);
    }
  }
}
