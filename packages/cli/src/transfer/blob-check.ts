import { type ConversationLog, type LogRecord, type Slot, StateCorruptError } from "@holdfast/core";
import { blobRef } from "@holdfast/core/store-kit";

/** Reads the long texts of a session's log back, each once, and compares them with their hashes. */
export class BlobCheck {
  readonly #log: Pick<ConversationLog, "readBlob">;
  readonly #slot: Slot;
  readonly #checked = new Set<string>();

  constructor(log: Pick<ConversationLog, "readBlob">, slot: Slot) {
    this.#log = log;
    this.#slot = slot;
  }

  /** @throws StateCorruptError when one that the record names is missing or is another */
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
