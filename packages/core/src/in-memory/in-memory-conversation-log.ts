import { setImmediate } from "node:timers/promises";
import type {
  ConversationLog,
  LogDraft,
  LogFinds,
  LogHit,
  LogQuery,
  LogRange,
  LogRecord,
  LogSessionPage,
  LogSessionQuery,
} from "../ports/conversation-log.js";
import { checkSlot, type Slot, slotText } from "../slot/slot.js";
import { checkLimit, strangeCursor } from "../store-kit/check-query.js";
import { extractBlobs } from "../store-kit/log/blobs.js";
import { DEFAULT_LOG_LIMIT, sliceLog } from "../store-kit/log/log-range.js";
import { checkLogDraft, logRecordText, readLogRecord } from "../store-kit/log/log-record.js";
import {
  checkLogQuery,
  checkSessionQuery,
  searchableText,
  snippetAround,
} from "../store-kit/log/search-text.js";
import { restoreBlobs } from "../store-kit/log/with-blobs.js";

/** Records after which a search yields to other work and checks its signal. */
const SEARCH_STRIDE = 256;

interface StoredRecord {
  readonly seq: number;
  /** Record as JSON, so that a reader gets what a real log returns. */
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
 * Keeps conversation logs for as long as this object lives: the reference log.
 *
 * `seq` counts over all slots, so that it also orders the records of different sessions.
 *
 * @example
 * const log = new InMemoryConversationLog();
 */
export class InMemoryConversationLog implements ConversationLog {
  readonly contract = 1;
  readonly kind = "memory";
  readonly reach = "process";
  readonly #slots = new Map<string, SlotLog>();
  readonly #onUse: (written?: Slot) => void;
  #lastSeq = 0;

  /** @param onUse - called before every command; for a store that removes expired sessions, with the slot that is written to */
  constructor(onUse: (written?: Slot) => void = () => {}) {
    this.#onUse = onUse;
  }

  async append(slot: Slot, records: readonly LogDraft[]): Promise<void> {
    this.stage(slot, records)();
  }

  /**
   * Checks and copies records without appending them, for stores that append within their save. The function returned
   * appends them and cannot fail; call it synchronously.
   */
  stage(slot: Slot, records: readonly LogDraft[]): () => void {
    const owner = checkSlot(slot);
    for (const draft of records) checkLogDraft(draft);
    this.#onUse(owner);
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
    this.#onUse();
    const log = this.#slots.get(slotText(checkSlot(slot)));
    return sliceLog(log?.records ?? [], range).map(({ text }) => readLogRecord(slot, text));
  }

  async readBlob(slot: Slot, ref: string): Promise<string | null> {
    this.#onUse();
    return this.#slots.get(slotText(checkSlot(slot)))?.blobs.get(ref) ?? null;
  }

  async search(query: LogQuery): Promise<LogFinds> {
    checkLogQuery(query);
    query.signal?.throwIfAborted();
    this.#onUse();
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
      if (hits.length === limit)
        return { hits, next: { sessionId: log.slot.sessionId, seq: record.seq } };
    }
    return { hits };
  }

  async sessions(query: LogSessionQuery): Promise<LogSessionPage> {
    checkSessionQuery(query);
    this.#onUse();
    const limit = checkLimit(query.limit, DEFAULT_LOG_LIMIT);
    const after = query.cursor === undefined ? Infinity : Number(query.cursor);
    if (Number.isNaN(after)) throw strangeCursor("log");
    const logs = this.#logsOf(query).filter((log) => lastSeqOf(log) < after);
    const page = logs.slice(0, limit);
    const sessions = page.map(({ slot, records }) => ({
      slot: { ...slot },
      lastAt: readLogRecord(slot, (records.at(-1) as StoredRecord).text).at,
    }));
    const last = page.at(-1);
    return logs.length > limit && last
      ? { sessions, cursor: String(lastSeqOf(last)) }
      : { sessions };
  }

  async delete(slot: Slot): Promise<boolean> {
    this.#onUse();
    return this.drop(checkSlot(slot));
  }

  /** Removes the log of a slot that was checked before. */
  drop(slot: Slot): boolean {
    return this.#slots.delete(slotText(slot));
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

  /** Returns the records to search: most recently updated session first, newest record first. */
  #newestFirst(query: LogQuery): [SlotLog, StoredRecord][] {
    const logs = this.#logsOf(query);
    const { before } = query;
    const from = logs.findIndex(({ slot }) => slot.sessionId === before?.sessionId);
    return logs.slice(Math.max(from, 0)).flatMap((log) =>
      log.records
        .filter(({ seq }) => log.slot.sessionId !== before?.sessionId || seq < before.seq)
        .map((record): [SlotLog, StoredRecord] => [log, record])
        .reverse(),
    );
  }

  #logsOf({ agentId, userId, sessionId }: Omit<LogQuery, "text">): SlotLog[] {
    return [...this.#slots.values()]
      .filter(
        ({ slot }) =>
          slot.agentId === agentId &&
          slot.userId === userId &&
          (sessionId === undefined || slot.sessionId === sessionId),
      )
      .sort((one, other) => lastSeqOf(other) - lastSeqOf(one));
  }
}

function lastSeqOf({ records }: SlotLog): number {
  return records.at(-1)?.seq ?? 0;
}
