import { randomUUID } from "node:crypto";
import {
  InvalidIdError,
  type JsonValue,
  type KeyValueStore,
  StateConflictError,
  StateTooLargeError,
  StoreUnavailableError,
} from "@holdfast/core";
import {
  compareKeys,
  type KeyPage,
  type KeyQuery,
  type KeyValueCondition,
  type VersionedValue,
} from "@holdfast/core/store-kit";

interface Stored {
  readonly json: string;
  readonly version: string;
}

/** The shortest key-value store that keeps the contract; broken ones override a protected method. */
export class ReferenceKeyValueStore implements KeyValueStore {
  readonly contract = 1;
  readonly kind = "reference";
  readonly reach = "process";
  readonly namespaces: Map<string, Map<string, Stored>>;
  broken = false;

  constructor(namespaces: Map<string, Map<string, Stored>> = new Map()) {
    this.namespaces = namespaces;
  }

  async get(namespace: readonly string[], key: string): Promise<VersionedValue | null> {
    checkKey(key);
    const values = this.values(namespace);
    await this.connect();
    const stored = values.get(key);
    return stored ? { value: JSON.parse(stored.json), version: stored.version } : null;
  }

  async getMany(
    namespace: readonly string[],
    keys: readonly string[],
  ): Promise<(VersionedValue | null)[]> {
    return Promise.all(keys.map((key) => this.get(namespace, key)));
  }

  async put(
    namespace: readonly string[],
    key: string,
    value: JsonValue,
    condition: KeyValueCondition = {},
  ): Promise<string> {
    checkKey(key);
    const json = JSON.stringify(value);
    if (Buffer.byteLength(json) > 1_048_576)
      throw new StateTooLargeError("a value is over 1 MB; store it elsewhere");
    const values = this.values(namespace);
    await this.connect();
    this.compare(values.get(key), condition);
    const version = this.newVersion(values.get(key)?.version);
    values.set(key, { json, version });
    return version;
  }

  async delete(
    namespace: readonly string[],
    key: string,
    condition: KeyValueCondition = {},
  ): Promise<boolean> {
    checkKey(key);
    const values = this.values(namespace);
    await this.connect();
    this.compare(values.get(key), condition);
    return values.delete(key);
  }

  async list(namespace: readonly string[], query: KeyQuery = {}): Promise<KeyPage> {
    const { prefix = "", limit = 100, cursor } = query;
    const values = this.values(namespace);
    await this.connect();
    const keys = [...values.keys()]
      .sort(this.order)
      .filter((key) => this.matches(key, prefix))
      .filter((key) => cursor === undefined || this.order(key, cursor) > 0);
    const page = keys.slice(0, limit);
    return keys.length > limit ? { keys: page, cursor: page.at(-1) } : { keys: page };
  }

  protected order(one: string, other: string): number {
    return compareKeys(one, other);
  }

  protected matches(key: string, prefix: string): boolean {
    return key.startsWith(prefix);
  }

  protected keyOf(namespace: readonly string[]): string {
    return JSON.stringify(namespace);
  }

  protected newVersion(_previous: string | undefined): string {
    return randomUUID();
  }

  protected compare(stored: Stored | undefined, condition: KeyValueCondition): void {
    if (condition.expected === undefined) return;
    if ((stored?.version ?? null) !== condition.expected)
      throw new StateConflictError("another version of the key is stored; read it again");
  }

  protected async connect(): Promise<void> {
    await new Promise(setImmediate);
    if (this.broken) throw new StoreUnavailableError("the reference store was broken");
  }

  private values(namespace: readonly string[]): Map<string, Stored> {
    for (const part of namespace) checkKey(part);
    const name = this.keyOf(namespace);
    const values = this.namespaces.get(name) ?? new Map<string, Stored>();
    this.namespaces.set(name, values);
    return values;
  }
}

function checkKey(key: unknown): void {
  if (typeof key !== "string" || key === "" || key.length > 1_024 || !isWellFormed(key))
    throw new InvalidIdError("a key must be a non-empty well-formed string of at most 1,024 units");
}

function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
