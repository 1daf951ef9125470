import type { Slot } from "@holdfast/core";
import {
  checkLimit,
  checkSessionQuery,
  type LogSessionPage,
  type LogSessionQuery,
  slotText,
} from "@holdfast/core/store-kit";
import type { RedisConnection } from "../connection/redis-connection.js";
import { isNumber } from "../connection/reply-shape.js";
import { logIndexKey, partKey } from "../keys.js";
import { entryPage, PARALLEL, readCursor, writeCursor } from "../listing/entry-page.js";
import { type IndexEntry, RecentTouches, SessionIndex } from "../listing/session-index.js";

/** Sessions fetched at a time. */
const BATCH = 50;

/**
 * Index of a user's sessions that have a log; separate from the state store's index, as a log can be used without states.
 *
 * Anonymous sessions are not indexed: they may belong to different people, so they cannot be searched together.
 */
export class LogIndex {
  readonly #connection: RedisConnection;
  readonly #keyPrefix: string;
  readonly #ttlMs: number | undefined;
  readonly #index: SessionIndex;
  readonly #touches = new RecentTouches();

  constructor(
    connection: RedisConnection,
    options: { readonly keyPrefix: string; readonly ttlMs: number | undefined },
  ) {
    this.#connection = connection;
    this.#ttlMs = options.ttlMs;
    this.#keyPrefix = options.keyPrefix;
    this.#index = new SessionIndex(connection, options.ttlMs);
  }

  /**
   * Tells whether a session has to be touched before its records are appended: at most once a minute.
   *
   * @param isNew - its log begins: another process may have deleted the previous one within that minute
   */
  isDue(slot: Slot, at: number, isNew: boolean): boolean {
    return slot.userId !== null && (isNew || !this.#touches.isRecent(slotText(slot), at));
  }

  /** Moves a session to the front. */
  async touch(slot: Slot, at: number): Promise<void> {
    if (slot.userId === null) return;
    const key = this.#key(slot.agentId, slot.userId);
    await this.#index.touch(key, slot.sessionId, at);
    if (this.#ttlMs !== undefined)
      await this.#index.sweep(key, this.#ttlMs, at, (sessionId) =>
        this.#hasLog({ ...slot, sessionId }),
      );
    this.#touches.remember(slotText(slot), at);
  }

  /** Removes a session, before its log is deleted. */
  async forget(slot: Slot): Promise<void> {
    if (slot.userId === null) return;
    this.#touches.forget(slotText(slot));
    await this.#index.remove(this.#key(slot.agentId, slot.userId), slot.sessionId);
  }

  /**
   * Iterates over the sessions of a user, newest first; the member of each entry is its id.
   *
   * @param from - the session to start with; when it is not in the index, iteration starts at the front
   */
  async *sessions(
    agentId: string,
    userId: string,
    from?: string,
  ): AsyncGenerator<IndexEntry, void, void> {
    const key = this.#key(agentId, userId);
    const first = from === undefined ? null : await this.#index.find(key, from);
    if (first !== null) yield first;
    yield* this.#index.entries(key, BATCH, first ?? undefined);
  }

  /**
   * Returns one page of a user's sessions that have a log, most recently updated first, to the minute.
   *
   * @throws InvalidInputError | InvalidIdError | StoreUnavailableError
   */
  async list(query: LogSessionQuery): Promise<LogSessionPage> {
    checkSessionQuery(query);
    const limit = checkLimit(query.limit, 100);
    const { agentId, userId } = query;
    const after =
      query.cursor === undefined
        ? undefined
        : readCursor(query.cursor, (entry, more) => (more.length === 0 ? entry : undefined));
    const batch = Math.min(limit + 1, PARALLEL);
    const entries = this.#index.entries(this.#key(agentId, userId), batch, after);
    const { items: sessions, last } = await entryPage(entries, limit, async (entry) => {
      const slot = { agentId, userId, sessionId: entry.member };
      if (await this.#hasLog(slot)) return { slot, lastAt: new Date(entry.score).toISOString() };
      await this.drop(agentId, userId, entry);
      return null;
    });
    return last === undefined ? { sessions } : { sessions, cursor: writeCursor(last) };
  }

  /** Drops an entry whose log was not found. */
  async drop(agentId: string, userId: string, entry: IndexEntry): Promise<void> {
    await this.#index.drop(this.#key(agentId, userId), entry);
  }

  async #hasLog(slot: Slot): Promise<boolean> {
    const key = partKey(this.#keyPrefix, slot, "log");
    const options = { reply: isNumber };
    return (await this.#connection.send("looking for a log", "EXISTS", [key], options)) === 1;
  }

  #key(agentId: string, userId: string): string {
    return logIndexKey(this.#keyPrefix, agentId, userId);
  }
}
