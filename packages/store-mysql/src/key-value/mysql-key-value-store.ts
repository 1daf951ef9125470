import { randomBytes } from "node:crypto";
import {
  type JsonValue,
  type KeyValueStore,
  StateConflictError,
  StateCorruptError,
  UnknownOutcomeError,
} from "@holdfast/core";
import {
  checkValue,
  type KeyPage,
  type KeyQuery,
  type KeyValueCondition,
  type VersionedValue,
  withDeadline,
} from "@holdfast/core/store-kit";
import { asBytes, asText } from "../connection/cells.js";
import { Database } from "../connection/database.js";
import { openDatabase } from "../connection/open-database.js";
import { rowBatches } from "../connection/row-batches.js";
import { type MysqlPartOptions, partOptions, readOptions } from "../options.js";
import { listKeys } from "./list-keys.js";
import { namespaceHash, type ValueLocation, valueLocation } from "./value-location.js";

/**
 * Stores small values in MySQL or MariaDB, compare-and-set between any number of nodes.
 *
 * Contract, beyond {@link KeyValueStore}'s:
 * - A version is 128 random bits made by the client, so that a `put` whose answer was lost can recognise its own write.
 * - Keys are listed in the order of their UTF-8 bytes; a page costs what it shows.
 * - Constructing does no I/O; the pool stays the caller's.
 *
 * @example
 * const values = new MysqlKeyValueStore({ pool });
 * const version = await values.put(["notes"], "first", { text: "hello" }, { expected: null });
 */
export class MysqlKeyValueStore implements KeyValueStore {
  readonly contract = 1;
  readonly kind = "mysql";
  readonly reach = "distributed";
  readonly #database: Database;
  readonly #table: string;

  /**
   * @param options - or a `Database` shared by several parts
   * @throws ConfigurationError
   */
  constructor(options: MysqlPartOptions | Database) {
    this.#database =
      options instanceof Database
        ? options
        : openDatabase(readOptions("MysqlKeyValueStore", options, partOptions));
    this.#table = this.#database.tables.kv;
  }

  async get(namespace: readonly string[], key: string): Promise<VersionedValue | null> {
    const [value] = await this.getMany(namespace, [key]);
    return value ?? null;
  }

  async getMany(
    namespace: readonly string[],
    keys: readonly string[],
  ): Promise<readonly (VersionedValue | null)[]> {
    const ns = namespaceHash(namespace);
    const hashes = keys.map((key) => valueLocation(namespace, key).row[1]);
    const found = new Map<string, VersionedValue>();
    for (const batch of rowBatches(hashes, (hash) => hash.length)) {
      const rows = await this.#database.read(
        "reading values",
        `SELECT kh, version, body FROM ${this.#table} WHERE ns = ? AND kh IN (${batch.map(() => "?").join(", ")})`,
        [ns, ...batch],
      );
      for (const [kh, version, body] of rows)
        found.set(asBytes(kh).toString("hex"), {
          value: parseValue(asText(body)),
          version: asText(version),
        });
    }
    return hashes.map((hash) => found.get(hash.toString("hex")) ?? null);
  }

  async put(
    namespace: readonly string[],
    key: string,
    value: JsonValue,
    condition: KeyValueCondition = {},
  ): Promise<string> {
    const location = valueLocation(namespace, key);
    const body = Buffer.from(checkValue(key, value), "utf8");
    const version = randomBytes(16).toString("hex");
    const deadline = performance.now() + this.#database.commandTimeoutMs;
    try {
      if (!(await this.#write(location, version, body, condition.expected)))
        throw conflict(location);
    } catch (error) {
      if (!UnknownOutcomeError.is(error)) throw error;
      // The answer was lost. When the stored version is the one just made, the write was applied.
      const left = deadline - performance.now();
      const stored = await withDeadline(
        () => this.#version(location),
        left,
        () => error,
      ).catch(() => null);
      if (stored !== version) throw error;
    }
    return version;
  }

  async delete(
    namespace: readonly string[],
    key: string,
    condition: KeyValueCondition = {},
  ): Promise<boolean> {
    const location = valueLocation(namespace, key);
    const { expected } = condition;
    if (expected === null) {
      if ((await this.#version(location)) !== null) throw conflict(location);
      return false;
    }
    const sql = `DELETE FROM ${this.#table} WHERE ns = ? AND kh = ?`;
    const what = `deleting ${location.label}`;
    if (expected === undefined)
      return (await this.#database.write(what, sql, location.row)).affectedRows > 0;
    const values = [...location.row, Buffer.from(expected, "utf8")];
    const { affectedRows } = await this.#database.write(what, `${sql} AND version = ?`, values);
    if (affectedRows === 0) throw conflict(location);
    return true;
  }

  async list(namespace: readonly string[], query: KeyQuery = {}): Promise<KeyPage> {
    return listKeys(this.#database, namespaceHash(namespace), query);
  }

  /** Returns whether the condition held and the value was written. */
  async #write(
    { row, name, head, label }: ValueLocation,
    version: string,
    body: Buffer,
    expected: string | null | undefined,
  ): Promise<boolean> {
    const what = `writing ${label}`;
    const made = Buffer.from(version, "utf8");
    const insert = `INSERT INTO ${this.#table} (ns, kh, name, head, version, body) VALUES (?, ?, ?, ?, ?, ?)`;
    if (expected === null)
      return this.#database.insert(what, insert, [...row, name, head, made, body]);
    if (expected === undefined) {
      const sql = `${insert} ON DUPLICATE KEY UPDATE version = VALUES(version), body = VALUES(body)`;
      await this.#database.write(what, sql, [...row, name, head, made, body]);
      return true;
    }
    const { affectedRows } = await this.#database.write(
      what,
      `UPDATE ${this.#table} SET version = ?, body = ? WHERE ns = ? AND kh = ? AND version = ?`,
      [made, body, ...row, Buffer.from(expected, "utf8")],
    );
    return affectedRows > 0;
  }

  async #version({ row, label }: ValueLocation): Promise<string | null> {
    const sql = `SELECT version FROM ${this.#table} WHERE ns = ? AND kh = ?`;
    const [found] = await this.#database.read(`reading ${label}`, sql, row);
    return found === undefined ? null : asText(found[0]);
  }
}

function parseValue(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // The parser's own message quotes the text, and contents stay out of errors.
    throw new StateCorruptError("a stored value is damaged: it is not JSON; put it again");
  }
}

function conflict({ label }: ValueLocation): StateConflictError {
  return new StateConflictError(
    `${label} was not changed: it holds another version, or none; read it again and repeat the change`,
  );
}
