import { StateConflictError } from "../errors/store-errors.js";
import type { JsonValue } from "../json/json.js";
import type {
  KeyPage,
  KeyQuery,
  KeyValueCondition,
  KeyValueStore,
  VersionedValue,
} from "../ports/key-value-store.js";
import { uuidv7 } from "../slot/uuid.js";
import {
  checkKey,
  checkValue,
  compareKeys,
  describeKey,
  namespaceText,
} from "../store-kit/check-key.js";
import { checkLimit } from "../store-kit/check-query.js";

interface StoredValue {
  readonly text: string;
  readonly version: string;
}

/**
 * Keeps values for as long as this object lives: the reference key-value store. Values are kept as JSON text, so that callers
 * share no references with the store.
 *
 * @example
 * const values = new InMemoryKeyValueStore();
 */
export class InMemoryKeyValueStore implements KeyValueStore {
  readonly contract = 1;
  readonly kind = "memory";
  readonly reach = "process";
  readonly #namespaces = new Map<string, Map<string, StoredValue>>();

  async get(namespace: readonly string[], key: string): Promise<VersionedValue | null> {
    return this.#read(namespaceText(namespace), key);
  }

  async getMany(
    namespace: readonly string[],
    keys: readonly string[],
  ): Promise<readonly (VersionedValue | null)[]> {
    const space = namespaceText(namespace);
    return keys.map((key) => this.#read(space, key));
  }

  async put(
    namespace: readonly string[],
    key: string,
    value: JsonValue,
    condition: KeyValueCondition = {},
  ): Promise<string> {
    const space = namespaceText(namespace);
    const name = checkKey(key);
    const values = this.#namespaces.get(space) ?? new Map<string, StoredValue>();
    checkCondition(name, condition, values.get(name));
    const stored = { text: checkValue(key, value), version: uuidv7() };
    this.#namespaces.set(space, values.set(name, stored));
    return stored.version;
  }

  async delete(
    namespace: readonly string[],
    key: string,
    condition: KeyValueCondition = {},
  ): Promise<boolean> {
    const space = namespaceText(namespace);
    const name = checkKey(key);
    const values = this.#namespaces.get(space);
    checkCondition(name, condition, values?.get(name));
    const deleted = values?.delete(name) ?? false;
    if (values?.size === 0) this.#namespaces.delete(space);
    return deleted;
  }

  async list(namespace: readonly string[], query: KeyQuery = {}): Promise<KeyPage> {
    const { prefix = "", cursor } = query;
    const limit = checkLimit(query.limit, 100);
    const found = [...(this.#namespaces.get(namespaceText(namespace))?.keys() ?? [])]
      .filter((key) => key.startsWith(prefix))
      .filter((key) => cursor === undefined || compareKeys(key, cursor) > 0)
      .sort(compareKeys);
    const keys = found.slice(0, limit);
    // The cursor is the last key returned, so that keys added or deleted in between shift nothing.
    const last = keys.at(-1);
    return found.length > limit && last !== undefined ? { keys, cursor: last } : { keys };
  }

  #read(space: string, key: string): VersionedValue | null {
    const name = checkKey(key);
    const stored = this.#namespaces.get(space)?.get(name);
    if (stored === undefined) return null;
    return { value: JSON.parse(stored.text) as JsonValue, version: stored.version };
  }
}

function checkCondition(
  key: string,
  { expected }: KeyValueCondition,
  stored: StoredValue | undefined,
): void {
  if (expected === undefined || expected === (stored?.version ?? null)) return;
  const found = stored === undefined ? "no longer has a value" : "holds another version";
  throw new StateConflictError(
    `${describeKey(key)} was not changed: it ${found}; read it again and repeat the change`,
  );
}
