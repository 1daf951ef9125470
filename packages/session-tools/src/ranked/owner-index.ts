import type { ConversationLog, LogRecord, Slot } from "@holdfast/core";
import type { YieldingClock } from "@holdfast/core/plugin-kit";
import { searchWords, type TextEntry, TextIndex } from "@holdfast/core/plugin-kit/search";
import type { LogSession } from "@holdfast/core/store-kit";
import type { SessionScope } from "../caller.js";
import { isMessage, type MessageRecord } from "../log-records.js";
import { BlobReader } from "../render/blob-reader.js";
import { briefText, messageTag } from "./brief-text.js";
import { type Embed, MessageVectors } from "./message-vectors.js";

/** Session as the index has it. */
interface KnownSession {
  readonly lastAt: string;
  /** Time at which it was read. */
  readonly readAt: number;
  /** The last record that was read: a session that was deleted and begun anew has another one at its position. */
  readonly last: Pick<LogRecord, "seq" | "id">;
  /** Position of the first record that was read. */
  readonly firstSeq: number;
  /** False when older records have not been read yet. */
  readonly isWhole: boolean;
}

/** Share of the conversations that an index has. */
export interface ConversationCoverage {
  readonly messages: number;
  readonly sessions: number;
  /** Time of the oldest message, in milliseconds since 1970; undefined without any. */
  readonly since: number | undefined;
  /** Why there is more: it does not fit, or time was up and the next search goes on. */
  readonly missing: "room" | "time" | undefined;
  /** Position before which the log has what does not fit. */
  readonly before: { readonly sessionId: string; readonly seq: number } | undefined;
  /** True when not even the log's own search has seen all of what does not fit. */
  readonly isCutOff?: boolean | undefined;
}

/** Records read at a time. */
const PAGE = 100;
/** Sessions listed at a time. */
const SESSIONS_PAGE = 500;
/** Characters that are split into words before other work may run. */
const SLICE_CHARS = 16_384;
/**
 * Sessions written to in the last minutes are always read again. Listings are exact to a minute; the rest allows for clocks
 * of stores that differ from the one here.
 */
const RECENT_MS = 12 * 60_000;
/** A position behind every record. */
const BEYOND_LAST = 2 ** 52;
/** Part of the room that is filled at first; the rest is for what is said later. */
const FILLED_PART = 0.75;

/** Index of the conversations of one user with one agent, brought up to date from the log before each search. */
export class OwnerIndex {
  readonly #log: ConversationLog;
  readonly #maxBytes: number;
  readonly #known = new Map<string, KnownSession>();
  readonly #vectors: MessageVectors | undefined;
  #index = new TextIndex();

  constructor(log: ConversationLog, maxBytes: number, embed?: Embed) {
    this.#log = log;
    this.#maxBytes = maxBytes;
    this.#vectors = embed && new MessageVectors(embed);
  }

  get texts(): TextIndex {
    return this.#index;
  }

  get bytes(): number {
    return this.#index.bytes + (this.#vectors?.bytes ?? 0);
  }

  /** Returns the similarity of messages to a query, where messages are embedded. */
  async similarTo(query: string): ReturnType<MessageVectors["similarTo"]> {
    return this.#vectors?.similarTo(query);
  }

  /** Forgets a session. */
  remove(sessionId: string): void {
    this.#known.delete(sessionId);
    this.#vectors?.remove(sessionId);
    this.#index.remove(sessionId);
  }

  /** Reads what the index lacks: what was said since, then older records, newest sessions first, while there is time and room. */
  async update(scope: SessionScope, clock: YieldingClock): Promise<ConversationCoverage> {
    if (this.bytes > this.#maxBytes) this.#clear();
    const sessions = await this.#sessions(scope, clock);
    let missing: ConversationCoverage["missing"];
    let before: ConversationCoverage["before"];
    const isFull = (): boolean => this.bytes > FILLED_PART * this.#maxBytes;
    for (const { slot, lastAt } of sessions) {
      const { sessionId } = slot;
      await clock.tick();
      if (clock.isUp) missing ??= "time";
      else if (this.#known.has(sessionId) || !isFull()) {
        if (!this.#isUnchanged(sessionId, lastAt)) await this.#readNew(slot, lastAt, clock);
        while (!clock.isUp && !isFull() && this.#known.get(sessionId)?.isWhole === false)
          await this.#readOlder(slot, clock);
      }
      const known = this.#known.get(sessionId);
      if (known?.isWhole === true || !isFull()) continue;
      missing = "room";
      before ??= { sessionId, seq: known?.firstSeq ?? BEYOND_LAST };
    }
    return { ...this.#described(sessions), missing, before };
  }

  #described(sessions: readonly LogSession[]): Omit<ConversationCoverage, "missing" | "before"> {
    let [messages, known] = [0, 0];
    let since: number | undefined;
    for (const { slot } of sessions) {
      if (!this.#known.has(slot.sessionId)) continue;
      const described = this.#index.describe(slot.sessionId);
      known++;
      messages += described.texts;
      since = Math.min(
        since ?? Number.POSITIVE_INFINITY,
        described.since ?? Number.POSITIVE_INFINITY,
      );
    }
    return { messages, sessions: known, since };
  }

  #clear(): void {
    for (const sessionId of this.#known.keys()) this.#vectors?.remove(sessionId);
    this.#known.clear();
    this.#index = new TextIndex();
  }

  /** Lists the sessions to search; forgets those that are gone. */
  async #sessions(scope: SessionScope, clock: YieldingClock): Promise<readonly LogSession[]> {
    const { agentId, userId, sessionId } = scope;
    if (sessionId !== undefined) return [{ slot: { agentId, userId, sessionId }, lastAt: "" }];
    const sessions: LogSession[] = [];
    // A scope without a session has a user.
    const query = { agentId, userId: userId ?? "", limit: SESSIONS_PAGE };
    let cursor: string | undefined;
    do {
      await clock.tick();
      const page = await this.#log.sessions({ ...query, cursor });
      sessions.push(...page.sessions);
      cursor = page.cursor;
    } while (cursor !== undefined);
    const ids = new Set(sessions.map(({ slot }) => slot.sessionId));
    for (const id of [...this.#known.keys()]) if (!ids.has(id)) this.remove(id);
    return sessions;
  }

  #isUnchanged(sessionId: string, lastAt: string): boolean {
    // A log in memory is read at no cost, and has no clock of its own.
    if (this.#log.reach === "process") return false;
    const known = this.#known.get(sessionId);
    return known?.lastAt === lastAt && known.readAt - Date.parse(lastAt) > RECENT_MS;
  }

  /** Reads the records after the last known one; of an unknown session the newest. */
  async #readNew(slot: Slot, lastAt: string, clock: YieldingClock): Promise<void> {
    const { sessionId } = slot;
    const readAt = Date.now();
    for (;;) {
      const known = this.#known.get(sessionId);
      const range = known === undefined ? {} : { after: known.last.seq - 1 };
      const page = await this.#log.read(slot, { ...range, limit: PAGE });
      const isSame = known === undefined || page[0]?.id === known.last.id;
      if (!isSame) {
        this.remove(sessionId);
        continue;
      }
      const last = page.at(-1);
      if (last === undefined) return;
      const fresh = known === undefined ? page : page.slice(1);
      this.#index.add(sessionId, await this.#entries(slot, fresh, clock));
      this.#known.set(sessionId, {
        lastAt,
        readAt,
        last,
        firstSeq: known?.firstSeq ?? page[0]?.seq ?? last.seq,
        isWhole: known?.isWhole ?? page.length < PAGE,
      });
      if (known === undefined || page.length < PAGE) return;
    }
  }

  /** Reads a page of records before the first known one. */
  async #readOlder(slot: Slot, clock: YieldingClock): Promise<void> {
    const known = this.#known.get(slot.sessionId);
    if (known === undefined) return;
    const page = await this.#log.read(slot, { before: known.firstSeq, limit: PAGE });
    this.#index.add(slot.sessionId, await this.#entries(slot, page, clock), "before");
    const firstSeq = page[0]?.seq ?? known.firstSeq;
    this.#known.set(slot.sessionId, { ...known, firstSeq, isWhole: page.length < PAGE });
  }

  async #entries(
    slot: Slot,
    records: readonly LogRecord[],
    clock: YieldingClock,
  ): Promise<TextEntry[]> {
    const blobs = new BlobReader(this.#log, slot, clock);
    const entries: TextEntry[] = [];
    const texts = new Map<number, string>();
    for (const record of records) {
      await clock.tick();
      if (!isMessage(record)) continue;
      const { text } = await briefText(blobs, record);
      texts.set(record.seq, text);
      entries.push(await this.#entry(record, text, clock));
    }
    await this.#vectors?.add(slot.sessionId, texts);
    return entries;
  }

  async #entry(record: MessageRecord, text: string, clock: YieldingClock): Promise<TextEntry> {
    const { seq, at, message } = record;
    const words = typeof message.name === "string" ? searchWords(message.name) : [];
    for (let start = 0; start < text.length; ) {
      // No word is cut in two.
      const end = text.length - start <= SLICE_CHARS ? text.length : wordEnd(text, start);
      for (const word of searchWords(text.slice(start, end))) words.push(word);
      start = end;
      await clock.tick();
    }
    return { position: seq, at: Date.parse(at) || 0, tag: messageTag(message), words };
  }
}

function wordEnd(text: string, start: number): number {
  const space = text.indexOf(" ", start + SLICE_CHARS / 2);
  return space < 0 || space > start + SLICE_CHARS ? start + SLICE_CHARS : space;
}
