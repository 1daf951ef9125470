import type { ConversationLog, Slot } from "@holdfast/core";
import { type LogDraft, retryWrite } from "@holdfast/core/store-kit";

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
