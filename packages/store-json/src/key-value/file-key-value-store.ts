import { resolve } from "node:path";
import type { JsonValue, KeyValueStore } from "@holdfast/core";
import {
  checkKey,
  checkLimit,
  checkNamespace,
  checkValue,
  type KeyPage,
  type KeyQuery,
  type KeyValueCondition,
  MAX_VALUE_BYTES,
  uuidv7,
  type VersionedValue,
} from "@holdfast/core/store-kit";
import { VersionedDocuments } from "../document/versioned-documents.js";
import { Disk } from "../io/disk.js";
import { inParallel } from "../io/in-parallel.js";
import { checkOptions, type FileOptions, fileOptionRules } from "../options.js";
import { type ReportSink, safeReport } from "../report.js";
import { listKeys } from "./list-keys.js";
import { valuePlace } from "./value-place.js";

/** Keys read in parallel. */
const PARALLEL = 16;

/**
 * Keeps small values in readable JSON files on one host, compare-and-set between processes.
 *
 * A value is stored like an agent state: a directory per key, with a journal and from time to time a snapshot. The
 * version of a value is the revision of its last write.
 *
 * @example
 * const values = new FileKeyValueStore({ root: "./values" });
 * const version = await values.put(["notes"], "first", { text: "hello" }, { expected: null });
 */
export class FileKeyValueStore implements KeyValueStore {
  readonly contract = 1;
  readonly kind = "json";
  readonly reach = "host";
  /** Directory of all files. */
  readonly root: string;
  readonly #documents: VersionedDocuments;
  readonly #report: ReportSink;

  constructor(options: FileOptions) {
    checkOptions("FileKeyValueStore", options, fileOptionRules);
    this.root = resolve(options.root);
    this.#report = safeReport(options.onReport);
    this.#documents = new VersionedDocuments({
      disk: new Disk(options.durability ?? "fsync"),
      report: this.#report,
      // The value's own limit is checked first; the head adds its name.
      limits: { headBytes: 2 * MAX_VALUE_BYTES, messageBytes: 0 },
    });
  }

  async get(namespace: readonly string[], key: string): Promise<VersionedValue | null> {
    return this.#read(checkNamespace(namespace), checkKey(key));
  }

  async getMany(
    namespace: readonly string[],
    keys: readonly string[],
  ): Promise<readonly (VersionedValue | null)[]> {
    const space = checkNamespace(namespace);
    const checked = keys.map(checkKey);
    return inParallel(checked, PARALLEL, (key) => this.#read(space, key));
  }

  async put(
    namespace: readonly string[],
    key: string,
    value: JsonValue,
    condition: KeyValueCondition = {},
  ): Promise<string> {
    const place = valuePlace(this.root, checkNamespace(namespace), checkKey(key));
    const head = { value: JSON.parse(checkValue(key, value)) as JsonValue };
    const { expected } = condition;
    return this.#documents.write(place, {
      ...{ op: uuidv7(), expected, head, keep: 0, replace: [], append: [] },
    });
  }

  async delete(
    namespace: readonly string[],
    key: string,
    condition: KeyValueCondition = {},
  ): Promise<boolean> {
    const place = valuePlace(this.root, checkNamespace(namespace), checkKey(key));
    return this.#documents.remove(place, condition.expected);
  }

  async list(namespace: readonly string[], query: KeyQuery = {}): Promise<KeyPage> {
    const limit = checkLimit(query.limit, 100);
    return listKeys(this.root, checkNamespace(namespace), { ...query, limit }, this.#report);
  }

  /** Waits for the commands under way and closes the files that are kept open for the next ones; the store can still be used. */
  async close(): Promise<void> {
    await this.#documents.idle();
  }

  async #read(namespace: readonly string[], key: string): Promise<VersionedValue | null> {
    const read = await this.#documents.read(valuePlace(this.root, namespace, key));
    if (read === null || read === "unchanged") return null;
    return { value: read.head["value"] ?? null, version: read.revision };
  }
}
