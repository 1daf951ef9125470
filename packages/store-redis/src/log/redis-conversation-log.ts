import {
  type ConversationLog,
  InvalidInputError,
  type LogRecord,
  type Message,
  type Slot,
} from "@holdfast/core";
import {
  checkLimit,
  checkSlot,
  DEFAULT_LOG_LIMIT,
  describeSlot,
  type LogDraft,
  type LogFinds,
  type LogQuery,
  type LogRange,
  type LogSessionPage,
  type LogSessionQuery,
} from "@holdfast/core/store-kit";
import { connect, type RedisConnection } from "../connection/redis-connection.js";
import { textIn } from "../connection/reply-shape.js";
import { refreshLua } from "../gate/refresh-lua.js";
import { slotKeys } from "../keys.js";
import { type RedisStoreOptions, type ResolvedOptions, readOptions } from "../options.js";
import { defineSlotScript } from "../slot-script.js";
import { referencesLua } from "../state/references-lua.js";
import { appendLogLua, type PreparedLog, prepareLog } from "./append-log.js";
import { readBlob, writeBlobs } from "./blobs.js";
import { LogIndex } from "./log-index.js";
import { searchLogs } from "./search-logs.js";
import { type RecordRange, readStored, storedRecords } from "./stored-records.js";

/**
 * Appends to a log. KEYS `slotKeys`. ARGV: ttlMs (or empty), the arguments of `append_log`.
 *
 * A log that a state refers to is kept for as long as the state.
 */
const appendScript = defineSlotScript(
  "append-log",
  true,
  `${refreshLua}${appendLogLua}
   local answer = redis.call('EXISTS', LOG) == 0 and 'begun' or 'appended'
   append_log(2)
   local kept = {LOG, LOG_IDS, BLOBS}
   local state_ms = redis.call('HEXISTS', STATE, 'refs') == 1 and redis.call('PTTL', STATE)
   if ARGV[1] ~= '' and state_ms ~= -1 then refresh(math.max(tonumber(ARGV[1]), state_ms or 0), 1, kept)
   else for _, key in ipairs(kept) do redis.call('PERSIST', key) end end
   return answer`,
  textIn("begun", "appended"),
);

/** Deletes a log; a state that refers to it gets the messages. KEYS `slotKeys`. */
const deleteScript = defineSlotScript(
  "delete-log",
  true,
  `${referencesLua}
   copy_back()
   return redis.call('UNLINK', LOG, LOG_IDS, BLOBS) == 0 and 'absent' or 'deleted'`,
  textIn("deleted", "absent"),
);

/** Options of {@link RedisConversationLog}. */
export type RedisConversationLogOptions = RedisStoreOptions;

/**
 * Keeps the conversation log in Redis: a list per session, for any number of nodes.
 *
 * Contract, beyond {@link ConversationLog}'s:
 * - An append is one script: all its records are stored, or none. It is as durable as Redis; see `minReplicas`.
 * - A record is recognised as a repeat for as long as its log exists.
 * - Sessions are listed and searched newest first, to the minute. One that is written to between two pages moves to the front:
 *   later pages may miss it, and a search that continues from it sees others again.
 * - A search reads at most 20,000 records and 64 million characters within 10 seconds, and then returns where to continue. It
 *   starts over when the session to continue from was deleted meanwhile.
 * - Constructing does no I/O.
 *
 * @example
 * const log = new RedisConversationLog({ client: new Redis() });
 */
export class RedisConversationLog implements ConversationLog {
  readonly contract = 1;
  readonly kind = "redis";
  readonly reach = "distributed";
  readonly #options: ResolvedOptions;
  readonly #connection: RedisConnection;
  readonly #ownsConnection: boolean;
  readonly #index: LogIndex;

  /**
   * @param shared - a connection that other parts use and close; without one the log makes its own
   * @throws ConfigurationError
   */
  constructor(options: RedisConversationLogOptions, shared?: RedisConnection) {
    this.#options = readOptions("RedisConversationLog", options, [
      "client",
      "keyPrefix",
      "ttlMs",
      "minReplicas",
      "commandTimeoutMs",
    ]);
    this.#ownsConnection = shared === undefined;
    this.#connection = shared ?? connect(this.#options.client, this.#options);
    this.#index = new LogIndex(this.#connection, this.#options);
  }

  async append(slot: Slot, records: readonly LogDraft[]): Promise<void> {
    const owner = checkSlot(slot);
    const { args, isIndexed } = await this.#stage(owner, records, false);
    if (records.length === 0) return;
    const { ttlMs = "", minReplicas } = this.#options;
    const answer = await this.#connection.run(
      `appending to the log of ${describeSlot(owner)}`,
      appendScript,
      slotKeys(this.#options.keyPrefix, owner),
      [ttlMs, ...args],
      { minReplicas },
    );
    if (answer === "begun" && !isIndexed) await this.#index.touch(owner, Date.now());
  }

  /**
   * Does everything that comes before records are appended: checks and copies them, stores their long texts and adds the
   * session to the index. Resolves to the arguments of `append_log`, for a store that appends within its save.
   *
   * @internal
   * @param saved - the messages of that save
   * @param isNew - the session begins with these records, as far as the caller knows
   */
  async stage(
    slot: Slot,
    records: readonly LogDraft[],
    saved: readonly Message[],
    isNew: boolean,
  ): Promise<PreparedLog["args"]> {
    return (await this.#stage(slot, records, isNew, saved)).args;
  }

  async read(slot: Slot, range: LogRange = {}): Promise<readonly LogRecord[]> {
    const owner = checkSlot(slot);
    const records: LogRecord[] = [];
    const { keyPrefix } = this.#options;
    const wanted = recordRange(range);
    for await (const batch of storedRecords(this.#connection, keyPrefix, owner, wanted))
      for (const stored of batch) records.push(readStored(owner, stored));
    return wanted.newestFirst ? records.reverse() : records;
  }

  async readBlob(slot: Slot, ref: string): Promise<string | null> {
    return readBlob(this.#connection, this.#options.keyPrefix, checkSlot(slot), ref);
  }

  async search(query: LogQuery): Promise<LogFinds> {
    const { keyPrefix } = this.#options;
    return searchLogs({ connection: this.#connection, keyPrefix, index: this.#index }, query);
  }

  async sessions(query: LogSessionQuery): Promise<LogSessionPage> {
    return this.#index.list(query);
  }

  async delete(slot: Slot): Promise<boolean> {
    const owner = checkSlot(slot);
    await this.#index.forget(owner);
    const { keyPrefix, minReplicas } = this.#options;
    const what = `deleting the log of ${describeSlot(owner)}`;
    const keys = slotKeys(keyPrefix, owner);
    return (
      (await this.#connection.run(what, deleteScript, keys, [], { minReplicas })) === "deleted"
    );
  }

  /** Ends the connections this log made; the caller's client stays open. */
  async close(): Promise<void> {
    if (this.#ownsConnection) await this.#connection.close();
  }

  async #stage(
    slot: Slot,
    records: readonly LogDraft[],
    isNew: boolean,
    saved?: readonly Message[],
  ): Promise<{ readonly args: PreparedLog["args"]; readonly isIndexed: boolean }> {
    const { args, blobs } = prepareLog(slot, records, saved);
    if (records.length === 0) return { args, isIndexed: false };
    const at = Date.now();
    const isIndexed = this.#index.isDue(slot, at, isNew);
    await Promise.all([
      isIndexed && this.#index.touch(slot, at),
      blobs.size > 0 && writeBlobs(this.#connection, this.#options, slot, blobs),
    ]);
    return { args, isIndexed };
  }
}

/** @throws InvalidInputError */
function recordRange({ before, after, limit }: LogRange): RecordRange {
  for (const end of [before, after])
    if (end !== undefined && (typeof end !== "number" || Number.isNaN(end)))
      throw new InvalidInputError("before and after must be numbers: the seqs of log records");
  const largest = Number.MAX_SAFE_INTEGER;
  return {
    from: Math.max(Math.min(Math.floor(after ?? -1) + 1, largest), 0),
    to: Math.min(Math.ceil(before ?? Infinity) - 1, largest),
    newestFirst: after === undefined,
    limit: checkLimit(limit, DEFAULT_LOG_LIMIT),
  };
}
