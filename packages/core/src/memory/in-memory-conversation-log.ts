import { setImmediate } from "node:timers/promises";
import { extractBlobs } from "../log/blobs.js";
import { sliceLog } from "../log/log-range.js";
import { checkLogDraft, logRecordText, readLogRecord } from "../log/log-record.js";
import { checkLogQuery, searchableText, snippetAround } from "../log/search-text.js";
import { restoreBlobs } from "../log/with-blobs.js";
import type {
  ConversationLog,
  LogDraft,
  LogHit,
  LogQuery,
  LogRange,
  LogRecord,
} from "../ports/conversation-log.js";
import { checkSlot, type Slot, slotText } from "../slot/slot.js";
import { checkLimit } from "../store/check-limit.js";

/** After this many records a search lets others run, and looks whether it should stop. */
const SEARCH_STRIDE = 256;

interface StoredRecord {
  readonly seq: number;
  /** As JSON, so that a reader gets what a real log would give. */
  readonly text: string;
}

interface StagedRecord {
  readonly id: string;
  readonly record: StoredRecord;
  readonly blobs: ReadonlyMap<string, string>;
}

interface SlotLog {
  readonly slot: Slot;
  readonly ids: Set<string>;
  readonly records: StoredRecord[];
  readonly blobs: Map<string, string>;
}

/**
 * A conversation log that lives as long as this object.
 *
 * `seq` counts over all slots, so that it also orders the records of different sessions.
 */
export class InMemoryConversationLog implements ConversationLog {
  readonly contract = 1;
  readonly kind = "memory";
  readonly reach = "process";
  readonly #slots = new Map<string, SlotLog>();
  #lastSeq = 0;

  async append(slot: Slot, records: readonly LogDraft[]): Promise<void> {
    this.stage(slot, records)();
  }

  /**
   * Checks and copies records without appending them. The function returned appends them and cannot fail; call it in the
   * same step. For stores that append within their save.
   */
  stage(slot: Slot, records: readonly LogDraft[]): () => void {
    const owner = checkSlot(slot);
    for (const draft of records) checkLogDraft(draft);
    const known = this.#slots.get(slotText(owner))?.ids;
    const staged = records.filter(({ id }) => !known?.has(id)).map((draft) => this.#copy(draft));
    return () => {
      if (staged.length === 0) return;
      const log = this.#logOf(owner);
      for (const { record, id, blobs } of staged) {
        if (log.ids.has(id)) continue;
        log.ids.add(id);
        log.records.push(record);
        for (const [ref, blob] of blobs) log.blobs.set(ref, blob);
      }
    };
  }

  async read(slot: Slot, range: LogRange = {}): Promise<readonly LogRecord[]> {
    const log = this.#slots.get(slotText(checkSlot(slot)));
    return sliceLog(log?.records ?? [], range).map(({ text }) => readLogRecord(slot, text));
  }

  async readBlob(slot: Slot, ref: string): Promise<string | null> {
    return this.#slots.get(slotText(checkSlot(slot)))?.blobs.get(ref) ?? null;
  }

  async search(query: LogQuery): Promise<readonly LogHit[]> {
    checkLogQuery(query);
    query.signal?.throwIfAborted();
    const limit = checkLimit(query.limit, 10);
    const hits: LogHit[] = [];
    let seen = 0;
    for (const [log, stored] of this.#newestFirst(query)) {
      if (seen++ % SEARCH_STRIDE === SEARCH_STRIDE - 1) await setImmediate();
      query.signal?.throwIfAborted();
      const record = readLogRecord(log.slot, stored.text);
      if (record.message === undefined) continue;
      const whole = restoreBlobs(log.slot, record, (ref) => log.blobs.get(ref));
      const text = whole.message === undefined ? "" : searchableText(whole.message);
      const snippet = snippetAround(text, query.text);
      if (snippet !== null) hits.push({ slot: { ...log.slot }, record, snippet });
      if (hits.length === limit) break;
    }
    return hits;
  }

  async delete(slot: Slot): Promise<boolean> {
    return this.#slots.delete(slotText(checkSlot(slot)));
  }

  #copy(original: LogDraft): StagedRecord {
    const { draft, references, blobs } = extractBlobs(original);
    const seq = ++this.#lastSeq;
    const stored = { ...draft, seq, ...(references.length > 0 && { blobs: references }) };
    return { id: draft.id, record: { seq, text: logRecordText(stored) }, blobs };
  }

  #logOf(slot: Slot): SlotLog {
    const key = slotText(slot);
    let log = this.#slots.get(key);
    if (log === undefined) {
      log = { slot, ids: new Set(), records: [], blobs: new Map() };
      this.#slots.set(key, log);
    }
    return log;
  }

  #newestFirst({ agentId, userId, sessionId }: LogQuery): [SlotLog, StoredRecord][] {
    const found: [SlotLog, StoredRecord][] = [];
    for (const log of this.#slots.values())
      if (
        log.slot.agentId === agentId &&
        log.slot.userId === userId &&
        (sessionId === undefined || log.slot.sessionId === sessionId)
      )
        for (const record of log.records) found.push([log, record]);
    return found.sort(([, a], [, b]) => b.seq - a.seq);
  }
}
