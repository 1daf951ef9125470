import type { JsonValue, KeyValueStore, Reach } from "@holdfast/core";
import type {
  KeyPage,
  KeyQuery,
  KeyValueCondition,
  VersionedValue,
} from "@holdfast/core/store-kit";
import { checkKey, checkValue, describeKey, namespaceText } from "@holdfast/core/store-kit";
import type { KeyRing } from "./key-ring.js";
import { Seals } from "./seals.js";

/** Key-value store whose backend sees namespaces and keys, but only sealed values. */
export class EncryptedKeyValueStore implements KeyValueStore {
  readonly contract: 1;
  readonly kind: string;
  readonly reach: Reach;
  readonly #inner: KeyValueStore;
  readonly #ring: KeyRing;

  constructor(inner: KeyValueStore, ring: KeyRing) {
    this.contract = inner.contract;
    this.kind = `encrypted-${inner.kind}`;
    this.reach = inner.reach;
    this.#inner = inner;
    this.#ring = ring;
  }

  async get(namespace: readonly string[], key: string): Promise<VersionedValue | null> {
    const seals = this.#seals(namespace);
    return opened(seals, key, await this.#inner.get(namespace, key));
  }

  async getMany(
    namespace: readonly string[],
    keys: readonly string[],
  ): Promise<readonly (VersionedValue | null)[]> {
    const seals = this.#seals(namespace);
    const asked = [...keys];
    const entries = await this.#inner.getMany(namespace, asked);
    return entries.map((entry, index) => opened(seals, asked[index] ?? "", entry));
  }

  async put(
    namespace: readonly string[],
    key: string,
    value: JsonValue,
    condition?: KeyValueCondition,
  ): Promise<string> {
    const seals = this.#seals(namespace);
    const sealed = seals.seal(checkValue(checkKey(key), value), key);
    return this.#inner.put(namespace, key, { sealed }, condition);
  }

  delete(
    namespace: readonly string[],
    key: string,
    condition?: KeyValueCondition,
  ): Promise<boolean> {
    return this.#inner.delete(namespace, key, condition);
  }

  list(namespace: readonly string[], query?: KeyQuery): Promise<KeyPage> {
    return this.#inner.list(namespace, query);
  }

  #seals(namespace: readonly string[]): Seals {
    return new Seals(this.#ring, "holdfast.value.1", namespaceText(namespace));
  }
}

function opened(seals: Seals, key: string, entry: VersionedValue | null): VersionedValue | null {
  if (entry === null) return null;
  const text = seals.open(entry.value, `the value of ${describeKey(key)}`, key);
  return text === null ? entry : { value: JSON.parse(text) as JsonValue, version: entry.version };
}
