import type { RedisConnection, RedisReply } from "../connection/redis-connection.js";
import { defineScript } from "../connection/script.js";

/** One entry of an index: its text and when it was last touched, in ms. */
export interface IndexEntry {
  readonly member: string;
  readonly score: number;
}

/**
 * A stale entry, whose session does not exist, is dropped only when it was not touched for this long: an entry is written
 * before its session.
 */
const DROP_AFTER_MS = 600_000;

/** More than one, so that an index shrinks faster than sessions are created. */
const SWEPT_AT_A_TIME = 4;

const dropEntry = defineScript(
  "drop-index-entry",
  true,
  `local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
   if score and tonumber(score) <= tonumber(ARGV[2]) then redis.call('ZREM', KEYS[1], ARGV[1]) end
   return 1`,
);

/**
 * Sorted sets of sessions by time, newest first.
 *
 * Contract:
 * - `touch` never moves an entry back in time, so that a listing in progress meets none twice.
 * - Every command is bounded, whatever the size of an index.
 */
export class SessionIndex {
  readonly #connection: RedisConnection;

  constructor(connection: RedisConnection) {
    this.#connection = connection;
  }

  async touch(key: string, member: string, at: number): Promise<void> {
    const args = [key, "GT", at, member];
    await this.#connection.send("indexing a session", "ZADD", args, { writes: true });
  }

  async remove(key: string, member: string): Promise<void> {
    const args = [key, member];
    await this.#connection.send("removing a session from an index", "ZREM", args, { writes: true });
  }

  /** Returns an entry with the time it was last touched; null when there is none. */
  async find(key: string, member: string): Promise<IndexEntry | null> {
    const score = await this.#connection.send("looking for a session", "ZSCORE", [key, member]);
    return score === null ? null : { member, score: Number(score) };
  }

  /** Removes an entry whose session was not found, unless the session may be about to be created. */
  async drop(key: string, { member, score }: IndexEntry): Promise<void> {
    if (score > Date.now() - DROP_AFTER_MS) return;
    await this.#connection.run("tidying an index", dropEntry, [key], [member, score]);
  }

  /**
   * Checks some of the oldest entries of an index whose sessions expire, and drops those whose session did: otherwise an index
   * that is never listed would only grow. An entry whose session still exists, because it is being loaded, is checked again
   * later.
   *
   * @param exists - tells whether the session of an entry exists
   */
  async sweep(
    key: string,
    ttlMs: number,
    at: number,
    exists: (member: string) => Promise<boolean>,
  ): Promise<void> {
    const before = at - ttlMs - DROP_AFTER_MS;
    const args = [key, "-inf", before, "WITHSCORES", "LIMIT", 0, SWEPT_AT_A_TIME];
    const reply = await this.#connection.send("tidying an index", "ZRANGEBYSCORE", args);
    for (const entry of readEntries(reply))
      if (await exists(entry.member)) await this.touch(key, entry.member, at - ttlMs);
      else await this.drop(key, entry);
  }

  /** The entries behind `after`, newest first, fetched `batch` at a time. */
  async *entries(
    key: string,
    batch: number,
    after?: IndexEntry,
  ): AsyncGenerator<IndexEntry, void, void> {
    let last = after;
    // Entries of the same millisecond are skipped one by one, up to the last one seen.
    for (let offset = 0; ; ) {
      const fetched = await this.#fetch(key, last?.score ?? "+inf", offset, batch);
      const from = last;
      const fresh = fetched.filter(
        (entry) => from === undefined || compareEntries(from, entry) < 0,
      );
      yield* fresh;
      if (fetched.length < batch) return;
      offset = fresh.length === 0 ? offset + batch : 0;
      last = fresh.at(-1) ?? last;
    }
  }

  async #fetch(
    key: string,
    from: number | string,
    offset: number,
    count: number,
  ): Promise<IndexEntry[]> {
    const args = [key, from, "-inf", "WITHSCORES", "LIMIT", offset, count];
    return readEntries(await this.#connection.send("listing sessions", "ZREVRANGEBYSCORE", args));
  }
}

/** Reads members and scores, which alternate in the reply. */
function readEntries(reply: RedisReply): IndexEntry[] {
  const flat = Array.isArray(reply) ? reply.map(String) : [];
  return flat.flatMap((member, index) =>
    index % 2 === 0 ? { member, score: Number(flat[index + 1]) } : [],
  );
}

/** Orders entries newest first; within a millisecond the one with the greater bytes comes first. */
export function compareEntries(a: IndexEntry, b: IndexEntry): number {
  return b.score - a.score || Buffer.compare(Buffer.from(b.member), Buffer.from(a.member));
}

/** An index entry is rewritten at most this often per process. */
const TOUCH_EVERY_MS = 60_000;

/** Slots remembered per process; those forgotten are touched again, which is harmless. */
const REMEMBERED = 10_000;

/** Remembers which index entries this process wrote within the last minute, to debounce touches. */
export class RecentTouches {
  readonly #times = new Map<string, number>();

  isRecent(key: string, at: number): boolean {
    const touched = this.#times.get(key);
    return touched !== undefined && Math.abs(at - touched) < TOUCH_EVERY_MS;
  }

  remember(key: string, at: number): void {
    this.#times.delete(key);
    this.#times.set(key, at);
    if (this.#times.size <= REMEMBERED) return;
    const [oldest] = this.#times.keys();
    if (oldest !== undefined) this.#times.delete(oldest);
  }

  forget(key: string): void {
    this.#times.delete(key);
  }
}
