import { createHash } from "node:crypto";
import {
  type ConversationLog,
  type LogRecord,
  type Slot,
  StoreUnavailableError,
} from "@holdfast/core";
import {
  checkLogQuery,
  checkSessionQuery,
  checkSlot,
  type LogDraft,
  type LogFinds,
  type LogHit,
  type LogQuery,
  type LogRange,
  type LogSessionPage,
  type LogSessionQuery,
  slotText,
} from "@holdfast/core/store-kit";

interface SlotLog {
  readonly slot: Slot;
  /** Records as JSON text. */
  readonly lines: string[];
  readonly ids: Set<string>;
  readonly blobs: Map<string, string>;
}

/** The shortest log that keeps the contract; broken ones override a protected method. */
export class ReferenceLog implements ConversationLog {
  readonly contract = 1;
  readonly kind = "reference";
  readonly reach = "process";
  readonly slots: Map<string, SlotLog>;
  broken = false;
  /** Records after which a search ends. */
  maxRecords = Number.POSITIVE_INFINITY;

  constructor(slots: Map<string, SlotLog> = new Map()) {
    this.slots = slots;
  }

  async append(slot: Slot, records: readonly LogDraft[]): Promise<void> {
    checkSlot(slot);
    await this.connect();
    this.add(slot, records);
  }

  add(slot: Slot, records: readonly LogDraft[]): void {
    if (records.length === 0) return;
    const key = slotText(slot);
    const log = this.slots.get(key) ?? {
      slot: checkSlot(slot),
      lines: [],
      ids: new Set<string>(),
      blobs: new Map<string, string>(),
    };
    // To the end: the map is in the order in which slots were written to.
    this.slots.delete(key);
    this.slots.set(key, log);
    for (const record of records) {
      if (!this.isNew(log, record)) continue;
      log.ids.add(record.id);
      const blobs: object[] = [];
      const message = record.message && takeBlobs(record.message, [], log.blobs, blobs);
      const extra = blobs.length > 0 ? { blobs } : {};
      log.lines.push(JSON.stringify({ ...record, message, seq: log.lines.length + 1, ...extra }));
    }
  }

  async read(slot: Slot, range: LogRange = {}): Promise<readonly LogRecord[]> {
    const key = slotText(checkSlot(slot));
    await this.connect();
    const log = this.slots.get(key);
    const { before = Infinity, after = -Infinity, limit = 100 } = range;
    const fitting = (log?.lines ?? [])
      .map((line): LogRecord => JSON.parse(line))
      .filter(({ seq }) => seq < before && seq > after);
    return range.after === undefined ? fitting.slice(-limit) : fitting.slice(0, limit);
  }

  async readBlob(slot: Slot, ref: string): Promise<string | null> {
    const key = slotText(checkSlot(slot));
    await this.connect();
    return this.slots.get(key)?.blobs.get(ref) ?? null;
  }

  async search(query: LogQuery): Promise<LogFinds> {
    checkLogQuery(query);
    query.signal?.throwIfAborted();
    await this.connect();
    const { before, limit = 10 } = query;
    const wanted = query.text.toLowerCase();
    const hits: LogHit[] = [];
    let read = 0;
    for (const { slot, lines, blobs } of this.from(this.newestFirst(query), before?.sessionId)) {
      const records = lines.map((line): LogRecord => JSON.parse(line));
      for (const record of this.inOrder(records)) {
        if (slot.sessionId === before?.sessionId && record.seq >= before.seq) continue;
        const inline = JSON.stringify(record.message ?? record.mark).toLowerCase();
        const texts = [inline, ...(record.blobs ?? []).map(({ ref }) => blobs.get(ref) ?? "")];
        if (texts.some((text) => this.matches(text.toLowerCase(), wanted)))
          hits.push({ slot, record, snippet: query.text });
        if (hits.length === limit || ++read >= this.maxRecords)
          return { hits, next: { sessionId: slot.sessionId, seq: record.seq } };
      }
    }
    return { hits };
  }

  async sessions(query: LogSessionQuery): Promise<LogSessionPage> {
    checkSessionQuery(query);
    await this.connect();
    const { cursor, limit = 100 } = query;
    const logs = this.from(this.newestFirst(query), cursor);
    const page = logs.slice(0, limit);
    const sessions = page.map(({ slot, lines }) => ({
      slot,
      lastAt: JSON.parse(lines.at(-1) ?? "{}").at ?? new Date().toISOString(),
    }));
    const next = logs[limit]?.slot.sessionId;
    return next === undefined ? { sessions } : { sessions, cursor: next };
  }

  async delete(slot: Slot): Promise<boolean> {
    const key = slotText(checkSlot(slot));
    await this.connect();
    return this.slots.delete(key);
  }

  protected async connect(): Promise<void> {
    await new Promise(setImmediate);
    if (this.broken) throw new StoreUnavailableError("the reference log was broken");
  }

  protected isNew(log: SlotLog, record: LogDraft): boolean {
    return !log.ids.has(record.id);
  }

  protected newestFirst(query: LogQuery | LogSessionQuery): SlotLog[] {
    return [...this.slots.values()].filter(({ slot }) => this.sees(query, slot)).reverse();
  }

  /** The logs from that of a session on; all of them when it is not there. */
  from(logs: SlotLog[], sessionId: string | undefined): SlotLog[] {
    const index = logs.findIndex(({ slot }) => slot.sessionId === sessionId);
    return logs.slice(Math.max(index, 0));
  }

  protected inOrder(records: readonly LogRecord[]): readonly LogRecord[] {
    return records.toReversed();
  }

  protected sees(query: Omit<LogQuery, "text">, slot: Slot): boolean {
    if (slot.agentId !== query.agentId || slot.userId !== query.userId) return false;
    return query.sessionId === undefined || slot.sessionId === query.sessionId;
  }

  protected matches(text: string, wanted: string): boolean {
    return text.includes(JSON.stringify(wanted).slice(1, -1)) || text.includes(wanted);
  }
}

function takeBlobs(
  value: unknown,
  path: (string | number)[],
  store: Map<string, string>,
  taken: object[],
): unknown {
  if (typeof value === "string" && Buffer.byteLength(value) > 65_536) {
    const ref = `sha256:${createHash("sha256").update(value).digest("hex")}`;
    store.set(ref, value);
    taken.push({ path, ref, bytes: Buffer.byteLength(value) });
    return "";
  }
  if (Array.isArray(value))
    return value.map((item, index) => takeBlobs(item, [...path, index], store, taken));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, item]) => [key, takeBlobs(item, [...path, key], store, taken)]),
  );
}
