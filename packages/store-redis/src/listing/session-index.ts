import type { RedisConnection, RedisReply, RunOptions } from "../connection/redis-connection.js";
import {
  either,
  isNumber,
  isText,
  isTextOrNull,
  listOf,
  type ReplyShape,
  textIn,
} from "../connection/reply-shape.js";
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

/**
 * Writes an entry of an index or of the set of agents, and says for how long the key is kept: for as long as the session of its
 * newest entry may live.
 *
 * KEYS: index. ARGV: member, time, ms to keep it from now on (0: for good), `GT` to move an entry to the front, `NX` to add one
 * that is missing, `XX` to do neither, `SET` for the set of agents. A key that is kept for good and holds entries of others stays: their sessions
 * may not expire.
 */
const touchEntry = defineScript(
  "touch-index-entry",
  true,
  `local key, member, keep_ms, mode = KEYS[1], ARGV[1], tonumber(ARGV[3]), ARGV[4]
   local left = redis.call('EXISTS', key) == 0 and 0 or redis.call('PTTL', key)
   if mode == 'XX' and not redis.call('ZSCORE', key, member) then return 'left' end
   if mode == 'SET' then redis.call('SADD', key, member)
   elseif mode ~= 'XX' then redis.call('ZADD', key, mode, ARGV[2], member) end
   local count = mode == 'SET' and 'SCARD' or 'ZCARD'
   if keep_ms == 0 then
     if left >= 0 then redis.call('PERSIST', key) end
   elseif left < keep_ms and (left >= 0 or redis.call(count, key) == 1) then
     redis.call('PEXPIRE', key, keep_ms)
   end
   return 'touched'`,
  textIn("touched", "left"),
);

const dropEntry = defineScript(
  "drop-index-entry",
  true,
  `local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
   if score and tonumber(score) <= tonumber(ARGV[2]) then redis.call('ZREM', KEYS[1], ARGV[1]) end
   return 'done'`,
  textIn("done"),
);

/** Options of a write to an index. */
type WriteOptions = Pick<RunOptions, "deadlineMs" | "minReplicas">;

/**
 * Sorted sets of sessions by time, newest first.
 *
 * Contract:
 * - `touch` never moves an entry back in time, so that a listing in progress meets it again only among the newer ones.
 * - Every command is bounded, whatever the size of an index.
 */
export class SessionIndex {
  readonly #connection: RedisConnection;
  readonly #keepMs: number;

  /** @param ttlMs - time after which sessions expire; indexes of such sessions expire some time later */
  constructor(connection: RedisConnection, ttlMs: number | undefined) {
    this.#connection = connection;
    this.#keepMs = ttlMs === undefined ? 0 : ttlMs + DROP_AFTER_MS;
  }

  touch(key: string, member: string, at: number, options?: WriteOptions): Promise<void> {
    return this.#write(key, member, at, "GT", options);
  }

  /**
   * Keeps an index for as long as the session of an entry may live; the entry stays where it is.
   *
   * @param missing - adds an entry that is missing, or leaves the index as it is
   */
  keep(key: string, member: string, at: number, missing: "add" | "leave"): Promise<void> {
    return this.#write(key, member, at, missing === "add" ? "NX" : "XX");
  }

  /** Adds an agent to the set of agents. */
  addAgent(key: string, agentId: string, options?: WriteOptions): Promise<void> {
    return this.#write(key, agentId, 0, "SET", options);
  }

  async #write(
    key: string,
    member: string,
    at: number,
    mode: "GT" | "NX" | "XX" | "SET",
    options?: WriteOptions,
  ): Promise<void> {
    const what = mode === "SET" ? "indexing an agent" : "indexing a session";
    const args = [member, at, this.#keepMs, mode];
    await this.#connection.run(what, touchEntry, [key], args, options);
  }

  async remove(key: string, member: string): Promise<void> {
    const args = [key, member];
    const options = { writes: true, reply: isNumber };
    await this.#connection.send("removing a session from an index", "ZREM", args, options);
  }

  /** Returns an entry with the time it was last touched; null when there is none. */
  async find(key: string, member: string): Promise<IndexEntry | null> {
    const reply = either(isTextOrNull, isNumber);
    const what = "looking for a session";
    const score = await this.#connection.send(what, "ZSCORE", [key, member], { reply });
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
   * @param onGone - called with each entry that was dropped
   */
  async sweep(
    key: string,
    ttlMs: number,
    at: number,
    exists: (member: string) => Promise<boolean>,
    onGone: (entry: IndexEntry) => Promise<void> = async () => {},
  ): Promise<void> {
    const before = at - ttlMs - DROP_AFTER_MS;
    const args = [key, "-inf", before, "WITHSCORES", "LIMIT", 0, SWEPT_AT_A_TIME];
    const options = { reply: isEntries };
    const reply = await this.#connection.send("tidying an index", "ZRANGEBYSCORE", args, options);
    for (const { member } of readEntries(reply)) {
      if (await exists(member)) {
        await this.touch(key, member, at - ttlMs);
        continue;
      }
      const gone = { member, score: before };
      await this.drop(key, gone);
      await onGone(gone);
    }
  }

  /** Iterates over the entries behind `after`, fetched `batch` at a time, in either order. */
  async *entries(
    key: string,
    batch: number,
    after?: IndexEntry,
    order: EntryOrder = newestFirst,
  ): AsyncGenerator<IndexEntry, void, void> {
    let last = after;
    // Entries of the same millisecond are skipped one by one, up to the last one seen.
    for (let offset = 0; ; ) {
      const [command, first, end] = order.range;
      const args = [key, last?.score ?? first, end, "WITHSCORES", "LIMIT", offset, batch];
      const options = { reply: isEntries };
      const reply = await this.#connection.send("listing sessions", command, args, options);
      const fetched = readEntries(reply);
      const from = last;
      const fresh = fetched.filter((entry) => from === undefined || order.compare(from, entry) < 0);
      yield* fresh;
      if (fetched.length < batch) return;
      offset = fresh.length === 0 ? offset + batch : 0;
      last = fresh.at(-1) ?? last;
    }
  }
}

/** Members and scores, which alternate. */
const isEntries: ReplyShape = (reply) =>
  listOf(either(isText, isNumber))(reply) && Array.isArray(reply) && reply.length % 2 === 0;

/** Reads members and scores, which alternate in the reply. */
function readEntries(reply: RedisReply): IndexEntry[] {
  const flat = Array.isArray(reply) ? reply.map(String) : [];
  return flat.flatMap((member, index) =>
    index % 2 === 0 ? { member, score: Number(flat[index + 1]) } : [],
  );
}

/** Order in which entries are read. */
export interface EntryOrder {
  compare(a: IndexEntry, b: IndexEntry): number;
  /** Command that reads entries in this order, and the first and the last score. */
  readonly range: readonly [command: string, first: string, end: string];
}

/** Newest first; within a millisecond the entry with the greater bytes comes first. */
export const newestFirst: EntryOrder = {
  compare: (a, b) => compareAges(b, a),
  range: ["ZREVRANGEBYSCORE", "+inf", "-inf"],
};

/** The reverse of {@link newestFirst}: an entry that is touched meanwhile is still to come. */
export const oldestFirst: EntryOrder = {
  compare: compareAges,
  range: ["ZRANGEBYSCORE", "-inf", "+inf"],
};

function compareAges(a: IndexEntry, b: IndexEntry): number {
  return a.score - b.score || Buffer.compare(Buffer.from(a.member), Buffer.from(b.member));
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
