import {
  type ConversationLog,
  type LogDraft,
  type LogRecord,
  retryWrite,
  type Slot,
} from "@holdfast/core";
import { logRecords, type PortableRecord } from "./log-records.js";
import { recordText, type SessionDigest } from "./session-digest.js";

/**
 * How a stored log relates to the records it should hold:
 * - `same`, or `behind`: it is the beginning of them, and what was missing was appended, if that was asked for;
 * - `ahead`: they are the beginning of it;
 * - `other`: the two part ways; `changed`: a record has the same id and says something else.
 */
export type LogRelation = "same" | "behind" | "ahead" | "other" | "changed";

/** What came of comparing. */
export interface LogAlignment {
  readonly relation: LogRelation;
  /** How many records they begin with in common. */
  readonly shared: number;
}

/**
 * Compares a log with the records it should hold, both read page by page, and appends what it lacks.
 *
 * Appending begins only where the stored log has ended, so a log that turns out to be another one is not touched.
 *
 * @param digest - takes in every record that comes
 * @param onShared - told of every stored record that is as it should be
 * @param batches - where to append; what it holds back at the end is the caller's to send; null only compares
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

/** An append is sent when it has this much, or this many records. Files recognise a repeat within their last megabyte. */
const BATCH_BYTES = 524_288;
const BATCH_RECORDS = 500;

/** Appends records in batches, so that neither a long log nor long texts pile up in memory. */
export class AppendBatches {
  readonly #log: Pick<ConversationLog, "append">;
  readonly #slot: Slot;
  readonly #beforeAppend: () => void;
  #drafts: LogDraft[] = [];
  #bytes = 0;
  #added = 0;
  #appended = 0;

  /** @param beforeAppend - throws when nothing may be written any more; asked before every attempt */
  constructor(log: Pick<ConversationLog, "append">, slot: Slot, beforeAppend: () => void) {
    this.#log = log;
    this.#slot = slot;
    this.#beforeAppend = beforeAppend;
  }

  /** Records taken so far. */
  get added(): number {
    return this.#added;
  }

  /** Records sent so far; those of a failed append may or may not be there. */
  get appended(): number {
    return this.#appended;
  }

  /** @param bytes - about how long it is */
  async add(draft: LogDraft, bytes: number): Promise<void> {
    this.#drafts.push(draft);
    this.#added++;
    this.#bytes += bytes;
    if (this.#bytes >= BATCH_BYTES || this.#drafts.length >= BATCH_RECORDS) await this.flush();
  }

  /** What was not sent yet, for a store that appends within its save. */
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
