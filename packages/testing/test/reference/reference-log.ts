import { createHash } from "node:crypto";
import {
  type ConversationLog,
  checkSlot,
  InvalidInputError,
  type LogDraft,
  type LogHit,
  type LogQuery,
  type LogRange,
  type LogRecord,
  type Slot,
  StoreUnavailableError,
  slotText,
} from "@holdfast/core";

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

  async search(query: LogQuery): Promise<readonly LogHit[]> {
    checkSlot({ ...query, sessionId: query.sessionId === undefined ? "-" : query.sessionId });
    query.signal?.throwIfAborted();
    if (query.userId === null && query.sessionId === undefined)
      throw new InvalidInputError("a search without a user needs a session");
    await this.connect();
    const wanted = query.text.toLowerCase();
    const hits: LogHit[] = [];
    for (const { slot, lines, blobs } of this.slots.values()) {
      if (!this.sees(query, slot)) continue;
      for (const record of lines.map((line): LogRecord => JSON.parse(line))) {
        const inline = JSON.stringify(record.message ?? record.mark).toLowerCase();
        const texts = [inline, ...(record.blobs ?? []).map(({ ref }) => blobs.get(ref) ?? "")];
        if (texts.some((text) => this.matches(text.toLowerCase(), wanted)))
          hits.push({ slot, record, snippet: query.text });
      }
    }
    return hits.slice(0, query.limit ?? 10);
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

  protected sees(query: LogQuery, slot: Slot): boolean {
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
