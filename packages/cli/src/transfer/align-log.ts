import type { ConversationLog, LogRecord, Slot } from "@holdfast/core";
import { type LogDraft, retryWrite } from "@holdfast/core/store-kit";
import { logRecords, type PortableRecord } from "./log-records.js";
import { recordText, type SessionDigest } from "./session-digest.js";

/**
 * Relation of a stored log to the expected records:
 * - `same`; `behind`: it is a prefix of them, and the missing ones were appended, if requested;
 * - `ahead`: they are a prefix of it;
 * - `other`: the two diverge; `changed`: a record has the same id and different content.
 */
export type LogRelation = "same" | "behind" | "ahead" | "other" | "changed";

/** Result of {@link alignLog}. */
export interface LogAlignment {
  readonly relation: LogRelation;
  /** Length of the common prefix, in records. */
  readonly shared: number;
}

/**
 * Compares a log with the expected records, both read page by page, and appends the missing ones.
 *
 * Appending begins only at the end of the stored log, so a log that turns out to be a different one is not touched.
 *
 * @param digest - receives every expected record
 * @param onShared - called for every stored record that is as expected
 * @param batches - appends records, the last batch is left to the caller to send; null only compares
 */
export async function alignLog(
  log: Pick<ConversationLog, "read">,
  slot: Slot,
  incoming: AsyncIterable<PortableRecord>,
  digest: SessionDigest,
  batches: AppendBatches | null,
  onShared?: (record: LogRecord) => Promise<void>,
): Promise<LogAlignment> {
  const stored = logRecords(log, slot);
  let next = await stored.next();
  let shared = 0;
  let isBehind = false;
  for await (const { record, whole } of incoming) {
    const text = digest.record(record);
    if (!next.done) {
      if (next.value.id !== record.id) return { relation: "other", shared };
      if (recordText(next.value) !== text) return { relation: "changed", shared };
      shared++;
      await onShared?.(next.value);
      next = await stored.next();
      continue;
    }
    isBehind = true;
    const apart = (record.blobs ?? []).reduce((sum, { bytes }) => sum + bytes, 0);
    await batches?.add(await whole(), Buffer.byteLength(text, "utf8") + apart);
  }
  if (!next.done) return { relation: "ahead", shared };
  return { relation: isBehind ? "behind" : "same", shared };
}

/** Size at which a batch is appended. File logs recognise a repeated append within their last megabyte. */
const BATCH_BYTES = 524_288;
const BATCH_RECORDS = 500;

/** Appends records in batches, so that neither a long log nor long texts accumulate in memory. */
export class AppendBatches {
  readonly #log: Pick<ConversationLog, "append">;
  readonly #slot: Slot;
  readonly #beforeAppend: () => void;
  #drafts: LogDraft[] = [];
  #bytes = 0;
  #added = 0;
  #appended = 0;

  /** @param beforeAppend - called before every attempt; throws when nothing may be written any more */
  constructor(log: Pick<ConversationLog, "append">, slot: Slot, beforeAppend: () => void) {
    this.#log = log;
    this.#slot = slot;
    this.#beforeAppend = beforeAppend;
  }

  /** Records added so far. */
  get added(): number {
    return this.#added;
  }

  /** Records sent so far; those of a failed append may or may not be stored. */
  get appended(): number {
    return this.#appended;
  }

  /** @param bytes - approximate size */
  async add(draft: LogDraft, bytes: number): Promise<void> {
    this.#drafts.push(draft);
    this.#added++;
    this.#bytes += bytes;
    if (this.#bytes >= BATCH_BYTES || this.#drafts.length >= BATCH_RECORDS) await this.flush();
  }

  /** Returns and removes the records not sent yet, for a store that appends them with its save. */
  takeRest(): readonly LogDraft[] {
    const drafts = this.#drafts;
    this.#drafts = [];
    this.#bytes = 0;
    return drafts;
  }

  async flush(): Promise<void> {
    const drafts = this.takeRest();
    if (drafts.length === 0) return;
    const before = this.#appended;
    await retryWrite(this.#slot, async () => {
      this.#beforeAppend();
      this.#appended = before + drafts.length;
      await this.#log.append(this.#slot, drafts);
    });
  }
}
