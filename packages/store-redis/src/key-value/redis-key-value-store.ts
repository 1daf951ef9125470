import { createHash } from "node:crypto";
import {
  InvalidInputError,
  type JsonValue,
  type KeyValueStore,
  StateConflictError,
  StateCorruptError,
} from "@holdfast/core";
import { isWellFormed } from "@holdfast/core/plugin-kit";
import {
  checkKey,
  checkLimit,
  checkValue,
  describeKey,
  type KeyPage,
  type KeyQuery,
  type KeyValueCondition,
  namespaceText,
  uuidv7,
  type VersionedValue,
} from "@holdfast/core/store-kit";
import { connect, type RedisConnection } from "../connection/redis-connection.js";
import { isTextOrNull, listOf } from "../connection/reply-shape.js";
import type { Script } from "../connection/script.js";
import { type RedisPartOptions, type RedisStoreOptions, readOptions } from "../options.js";
import { deleteScript, listScript, putScript } from "./key-value-scripts.js";

/** Options of {@link RedisKeyValueStore}. */
export interface RedisKeyValueStoreOptions
  extends RedisPartOptions,
    Pick<RedisStoreOptions, "minReplicas"> {}

/**
 * Keeps small values in Redis, compare-and-set between any number of processes. Keys are listed in the order of their
 * UTF-8 bytes.
 *
 * @example
 * const values = new RedisKeyValueStore({ client: new Redis() });
 * const version = await values.put(["notes"], "first", { text: "hello" }, { expected: null });
 */
export class RedisKeyValueStore implements KeyValueStore {
  readonly contract = 1;
  readonly kind = "redis";
  readonly reach = "distributed";
  readonly #connection: RedisConnection;
  readonly #keyPrefix: string;
  readonly #minReplicas: number;
  readonly #markMs: number;

  /** @throws ConfigurationError */
  constructor(options: RedisKeyValueStoreOptions) {
    const { client, keyPrefix, commandTimeoutMs, minReplicas } = readOptions(
      "RedisKeyValueStore",
      options,
      ["client", "keyPrefix", "commandTimeoutMs", "minReplicas"],
    );
    this.#connection = connect(client, { commandTimeoutMs });
    this.#keyPrefix = keyPrefix;
    this.#minReplicas = minReplicas;
    // A write is repeated within its deadline only.
    this.#markMs = 2 * commandTimeoutMs;
  }

  async get(namespace: readonly string[], key: string): Promise<VersionedValue | null> {
    const [value = null] = await this.getMany(namespace, [key]);
    return value;
  }

  async getMany(
    namespace: readonly string[],
    keys: readonly string[],
  ): Promise<readonly (VersionedValue | null)[]> {
    const { values } = this.#keys(namespace);
    const names = keys.map(checkKey);
    if (names.length === 0) return [];
    const what = names.length === 1 ? `reading ${describeKey(names[0] ?? "")}` : "reading values";
    const stored = await this.#connection.send(what, "HMGET", [values, ...names], {
      reply: listOf(isTextOrNull, names.length),
    });
    return (stored as (string | null)[]).map((text, at) => readValue(names[at] ?? "", text));
  }

  async put(
    namespace: readonly string[],
    key: string,
    value: JsonValue,
    condition: KeyValueCondition = {},
  ): Promise<string> {
    const keys = this.#keys(namespace);
    const text = checkValue(checkKey(key), value);
    const version = uuidv7();
    await this.#write(putScript, keys, key, condition, [version, text]);
    return version;
  }

  async delete(
    namespace: readonly string[],
    key: string,
    condition: KeyValueCondition = {},
  ): Promise<boolean> {
    const keys = this.#keys(namespace);
    return (await this.#write(deleteScript, keys, checkKey(key), condition, [])) === "done";
  }

  async list(namespace: readonly string[], query: KeyQuery = {}): Promise<KeyPage> {
    const { names } = this.#keys(namespace);
    const limit = checkLimit(query.limit, 100);
    const { prefix = "", cursor } = query;
    if (!isWellFormed(prefix)) throw new InvalidInputError("prefix holds a lone surrogate");
    // One more than asked for shows whether there is another page.
    const args = [lowerBound(prefix, cursor), prefix, limit + 1];
    const found = await this.#connection.run("listing keys", listScript, [names], args);
    const keys = (found as string[]).slice(0, limit);
    const last = keys.at(-1);
    return (found as string[]).length > limit && last !== undefined
      ? { keys, cursor: last }
      : { keys };
  }

  /** Ends this store's use of its connections; the client stays the caller's. */
  close(): Promise<void> {
    return this.#connection.close();
  }

  #keys(namespace: readonly string[]): NamespaceKeys {
    return namespaceKeys(this.#keyPrefix, namespace);
  }

  async #write(
    script: Script,
    { values, names, done }: NamespaceKeys,
    key: string,
    { expected }: KeyValueCondition,
    more: readonly string[],
  ): Promise<string> {
    const verb = script === putScript ? "putting" : "deleting";
    const kind = expected === undefined ? "any" : expected === null ? "none" : "version";
    const outcome = await this.#connection.run(
      `${verb} ${describeKey(key)}`,
      script,
      [values, names, done(uuidv7())],
      [key, kind, expected ?? "", this.#markMs, ...more],
      { minReplicas: this.#minReplicas, wrote: (reply) => reply === "done" },
    );
    if (outcome === "done" || outcome === "absent") return outcome;
    const found = outcome === "none" ? "no longer has a value" : "holds another version";
    throw new StateConflictError(
      `${describeKey(key)} was not changed: it ${found}; read it again and repeat the change`,
    );
  }
}

function readValue(key: string, stored: string | null): VersionedValue | null {
  if (stored === null) return null;
  const end = stored.indexOf("\n");
  try {
    if (end > 0)
      return {
        value: JSON.parse(stored.slice(end + 1)) as JsonValue,
        version: stored.slice(0, end),
      };
  } catch {
    // Falls through to the error below. The parser's error would show what is stored.
  }
  throw new StateCorruptError(
    `the value of ${describeKey(key)} is damaged: it was not written by this store; delete it or restore a backup`,
  );
}

/** Lower bound of a page for ZRANGEBYLEX: behind the cursor, but never before the prefix. */
function lowerBound(prefix: string, cursor: string | undefined): string {
  if (cursor === undefined || Buffer.compare(Buffer.from(cursor), Buffer.from(prefix)) < 0)
    return `[${prefix}`;
  return `(${cursor}`;
}

/** Redis keys of a namespace; all have one hash tag and so live on the same node. */
interface NamespaceKeys {
  /** Hash: key → version, line feed, JSON. */
  readonly values: string;
  /** Sorted set of the keys, for listing them in order. */
  readonly names: string;
  /** Key that marks a write as done, for a limited time. */
  done(write: string): string;
}

/** @throws InvalidIdError unless `namespace` is one */
function namespaceKeys(prefix: string, namespace: readonly string[]): NamespaceKeys {
  const digest = createHash("sha256").update(namespaceText(namespace), "utf8").digest("hex");
  const base = `${prefix}v1:{${digest}}`;
  return {
    values: `${base}:kv`,
    names: `${base}:kv-names`,
    done: (write) => `${base}:kv-done:${write}`,
  };
}
