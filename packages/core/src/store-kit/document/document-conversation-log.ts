import { setImmediate } from "node:timers/promises";
import { StateCorruptError } from "../../errors/store-errors.js";
import type { Reach } from "../../ports/agent-state-store.js";
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
} from "../../ports/conversation-log.js";
import { checkSlot, describeSlot, type Slot, slotKey } from "../../slot/slot.js";
import { checkLimit } from "../check-query.js";
import type { DocumentSource } from "../list-documents.js";
import { type ExtractedBlobs, extractBlobs } from "../log/blobs.js";
import { DEFAULT_LOG_LIMIT, sliceLog } from "../log/log-range.js";
import { checkLogDraft, readLogRecord } from "../log/log-record.js";
import {
  checkLogQuery,
  checkSessionQuery,
  isSearched,
  searchableText,
  snippetAround,
} from "../log/search-text.js";
import { withBlobs } from "../log/with-blobs.js";
import {
  type Appended,
  appendRecords,
  type BlobDocument,
  beginPage,
  blobName,
  deleteRecords,
  isHalfDeleted,
  isLive,
  isLogDocument,
  type LogDocument,
  nameBlobs,
  type PageDocument,
  pagesOf,
  type StoredRecord,
  sealPage,
} from "./log-document.js";
import { LoggedSessions } from "./logged-sessions.js";
import { SharedDocuments } from "./shared-documents.js";

/** Settings of a {@link DocumentConversationLog}. */
export interface DocumentLogOptions {
  readonly kind: string;
  readonly reach: Reach;
  readonly clock: () => Date;
  /** Time after which a search ends with what it has found. */
  readonly searchMs: number;
}

/**
 * Keeps logs over a compare-and-set client: the newest records of a slot in one document, older ones in pages of 100, long texts
 * in documents of their own, and the sessions of a user in an index.
 *
 * An append reads and writes the first of them, which has 12 bytes for every record of the log. A deleted log leaves a small
 * tombstone without any id.
 */
export class DocumentConversationLog implements ConversationLog {
  readonly contract = 1;
  readonly kind: string;
  readonly reach: Reach;
  readonly #logs: SharedDocuments<LogDocument>;
  readonly #pages: SharedDocuments<PageDocument>;
  readonly #blobs: SharedDocuments<BlobDocument>;
  readonly #sessions: LoggedSessions;
  readonly #searchMs: number;

  constructor(source: DocumentSource, { kind, reach, clock, searchMs }: DocumentLogOptions) {
    this.kind = kind;
    this.reach = reach;
    this.#searchMs = searchMs;
    this.#sessions = new LoggedSessions(source, clock);
    this.#logs = new SharedDocuments<LogDocument>(source, {
      suffix: "-log",
      isDocument: isLogDocument,
    });
    this.#pages = new SharedDocuments<PageDocument>(source, {
      suffix: "-page",
      isDocument: ({ records }) => Array.isArray(records),
    });
    this.#blobs = new SharedDocuments<BlobDocument>(source, {
      suffix: "-blob",
      isDocument: ({ text }) => typeof text === "string",
    });
  }

  async append(slot: Slot, drafts: readonly LogDraft[]): Promise<void> {
    const owner = checkSlot(slot);
    for (const draft of drafts) checkLogDraft(draft);
    if (drafts.length === 0) return;
    const what = `appending to the log of ${describeSlot(owner)}`;
    const records = drafts.map((draft) => extractBlobs(draft));
    await this.#sessions.touch(owner);
    let done = await this.#append(owner, records, what);
    while (done === null) {
      await this.#finishDelete(owner, what);
      done = await this.#append(owner, records, what);
    }
    if (done.isNew) {
      // A delete in another process may have unlisted the session since it was touched.
      this.#sessions.forget(owner);
      await this.#sessions.touch(owner);
    }
    if (done.isFull) await this.#seal(owner, what);
  }

  async read(slot: Slot, range: LogRange = {}): Promise<readonly LogRecord[]> {
    const owner = checkSlot(slot);
    const limit = checkLimit(range.limit, DEFAULT_LOG_LIMIT);
    const isForward = range.after !== undefined;
    const { after = Number.NEGATIVE_INFINITY, before = Number.POSITIVE_INFINITY } = range;
    const found: StoredRecord[] = [];
    for await (const page of this.#parts(owner, isForward, { after, before })) {
      const inRange = page.filter(({ seq }) => seq > after && seq < before);
      found.splice(isForward ? found.length : 0, 0, ...inRange);
      if (found.length >= limit) break;
    }
    return sliceLog(found, { ...range, limit }).map(({ text }) => readLogRecord(owner, text));
  }

  async readBlob(slot: Slot, ref: string): Promise<string | null> {
    const owner = checkSlot(slot);
    const what = `reading a long text of ${describeSlot(owner)}`;
    const log = await this.#logs.read(slotKey(owner), what);
    if (!isLive(log) || !log.blobs.includes(ref)) return null;
    return (await this.#blobs.read(blobName(log, ref), what))?.text ?? null;
  }

  async search(query: LogQuery): Promise<LogFinds> {
    checkLogQuery(query);
    query.signal?.throwIfAborted();
    const limit = checkLimit(query.limit, 10);
    const { agentId, userId, before, signal } = query;
    const deadline = performance.now() + this.#searchMs;
    const hits: LogHit[] = [];
    for (const id of await this.#sessionsToSearch(query)) {
      const slot: Slot = { agentId, userId, sessionId: id };
      const end = id === before?.sessionId ? before.seq : Number.POSITIVE_INFINITY;
      for await (const part of this.#parts(slot, false, { before: end })) {
        for (const { seq, text } of part.toReversed()) {
          if (seq >= end) continue;
          const hit = await this.#hitIn(slot, text, query.text);
          if (hit !== null) hits.push(hit);
          signal?.throwIfAborted();
          if (hits.length === limit || performance.now() >= deadline)
            return { hits, next: { sessionId: id, seq } };
        }
        await setImmediate();
      }
      // Without this a search over sessions without records would not end in time; the continued one was seen before.
      if (id !== before?.sessionId && performance.now() >= deadline)
        return { hits, next: { sessionId: id, seq: 0 } };
    }
    return { hits };
  }

  async sessions(query: LogSessionQuery): Promise<LogSessionPage> {
    checkSessionQuery(query);
    return this.#sessions.page(query);
  }

  async delete(slot: Slot): Promise<boolean> {
    const owner = checkSlot(slot);
    const what = `deleting the log of ${describeSlot(owner)}`;
    await this.#sessions.remove(owner);
    const wasThere = await this.#logs.update(slotKey(owner), what, deleteRecords);
    if (wasThere) await this.#finishDelete(owner, what);
    return wasThere;
  }

  /** Appends records; `null` when the log was deleted meanwhile. */
  async #append(
    slot: Slot,
    records: readonly ExtractedBlobs[],
    what: string,
  ): Promise<Appended | null> {
    const blobs = new Map(records.flatMap((record) => [...record.blobs]));
    if (blobs.size === 0)
      return this.#logs.update(slotKey(slot), what, (stored) =>
        isHalfDeleted(stored) ? { result: null } : appendRecords(stored, records),
      );
    // Long texts are stored before the records that refer to them, and named before that: a delete finds what is named.
    const log = await this.#logs.update(slotKey(slot), what, (stored) =>
      isHalfDeleted(stored) ? { result: null } : nameBlobs(stored, blobs.keys()),
    );
    if (log === null) return null;
    for (const [ref, text] of blobs)
      await this.#blobs.create(blobName(log, ref), what, { v: 1, text });
    const done = await this.#logs.update(slotKey(slot), what, (stored) => {
      const isSame = isLive(stored) && stored.generation === log.generation;
      return isSame ? appendRecords(stored, records) : { result: null };
    });
    // The delete that came in between may have looked for them before they were stored.
    if (done === null)
      for (const ref of blobs.keys()) await this.#blobs.remove(blobName(log, ref), what);
    return done;
  }

  /** Stores the open records as a page. Nothing is lost when that fails: the next append does it. */
  async #seal(slot: Slot, what: string): Promise<void> {
    try {
      const begun = await this.#logs.update(slotKey(slot), what, beginPage);
      if (begun === null) return;
      const { page, records } = begun;
      await this.#pages.create(page.name, what, { v: 1, records });
      const seal = (stored: LogDocument | null) => sealPage(stored, page);
      const isSealed = await this.#logs.update(slotKey(slot), what, seal);
      if (!isSealed) await this.#pages.remove(page.name, what);
    } catch {
      // The log names the page, and has the records until the page is sealed.
    }
  }

  /** Deletes the documents that a deleted log names. */
  async #finishDelete(slot: Slot, what: string): Promise<void> {
    const log = await this.#logs.read(slotKey(slot), what);
    if (!isHalfDeleted(log)) return;
    for (const { name } of pagesOf(log)) await this.#pages.remove(name, what);
    for (const ref of log.blobs) await this.#blobs.remove(blobName(log, ref), what);
    await this.#logs.update(slotKey(slot), what, (stored) => {
      const isSame = isHalfDeleted(stored) && stored.generation === log.generation;
      const none = { pages: [], pending: undefined, blobs: [] };
      return { next: isSame ? { ...stored, ...none } : undefined, result: undefined };
    });
  }

  /** Iterates over the records of a slot in parts, each oldest first, that may lie in a range. */
  async *#parts(
    slot: Slot,
    isForward: boolean,
    { after = Number.NEGATIVE_INFINITY, before = Number.POSITIVE_INFINITY }: LogRange,
  ): AsyncGenerator<readonly StoredRecord[], void, void> {
    const what = `reading the log of ${describeSlot(slot)}`;
    const log = await this.#logs.read(slotKey(slot), what);
    if (!isLive(log)) return;
    const pages = log.pages.filter(({ first, last }) => last > after && first < before);
    if (!isForward) yield log.open;
    for (const { name } of isForward ? pages : pages.toReversed()) {
      const page = await this.#pages.read(name, what);
      if (page !== null) yield page.records;
      else if (await this.#isGone(slot, name, what)) return;
      else
        throw new StateCorruptError(
          `the log of ${describeSlot(slot)} is damaged: a page of it is missing`,
        );
    }
    if (isForward) yield log.open;
  }

  /** Tells whether a log was deleted, or deleted and begun again, while it was read. */
  async #isGone(slot: Slot, page: string, what: string): Promise<boolean> {
    const log = await this.#logs.read(slotKey(slot), what);
    return !isLive(log) || log.pages.every(({ name }) => name !== page);
  }

  /** Sessions from the one to continue with; from the first one when that is gone. */
  async #sessionsToSearch({ agentId, userId, sessionId, before }: LogQuery): Promise<string[]> {
    if (sessionId !== undefined) return [sessionId];
    const ids = await this.#sessions.ids({ agentId, userId: userId ?? "" });
    return ids.slice(Math.max(ids.indexOf(before?.sessionId ?? ""), 0));
  }

  /** Damage must not hide other records; reading the record reports it. */
  async #hitIn(slot: Slot, stored: string, text: string): Promise<LogHit | null> {
    try {
      const record = readLogRecord(slot, stored);
      const isLong = record.blobs?.some(({ path }) => isSearched(path)) ?? false;
      const { message } = isLong ? await withBlobs(this, slot, record) : record;
      const snippet = message === undefined ? null : snippetAround(searchableText(message), text);
      return snippet === null ? null : { slot: { ...slot }, record, snippet };
    } catch (error) {
      if (StateCorruptError.is(error)) return null;
      throw error;
    }
  }
}
