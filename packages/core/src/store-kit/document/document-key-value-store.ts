import { StateConflictError } from "../../errors/store-errors.js";
import type { JsonValue } from "../../json/json.js";
import type { Reach } from "../../ports/agent-state-store.js";
import type {
  KeyPage,
  KeyQuery,
  KeyValueCondition,
  KeyValueStore,
  VersionedValue,
} from "../../ports/key-value-store.js";
import { hashKey } from "../../slot/slot.js";
import { uuidv7 } from "../../slot/uuid.js";
import { checkKey, checkValue, compareKeys, describeKey, namespaceText } from "../check-key.js";
import { checkLimit } from "../check-query.js";
import type { DocumentSource } from "../list-documents.js";
import { SharedDocuments } from "./shared-documents.js";

/** Value of one key. A deleted one stays as a tombstone: a client cannot delete a document only if it is unchanged. */
interface ValueDocument {
  readonly v: 1;
  readonly version: string;
  /** Absent in a tombstone. */
  readonly value?: JsonValue;
}

/** Keys of one namespace, in order, each with a mark that changes whenever a key is put that was not there. */
interface KeysDocument {
  readonly v: 1;
  readonly keys: readonly (readonly [key: string, mark: string])[];
}

/** Values read at the same time. */
const PARALLEL_READS = 16;

/**
 * Keeps values over a compare-and-set client: a document per value, and one per namespace that lists its keys.
 *
 * - A put of a new key and a delete rewrite the list of the namespace: for thousands of keys, not for millions.
 * - A deleted key leaves a tombstone of about 60 bytes.
 * - A key whose first put was cut short by a crash is listed without a value until it is put or deleted.
 */
export class DocumentKeyValueStore implements KeyValueStore {
  readonly contract = 1;
  readonly kind: string;
  readonly reach: Reach;
  readonly #values: SharedDocuments<ValueDocument>;
  readonly #keys: SharedDocuments<KeysDocument>;

  constructor(source: DocumentSource, { kind, reach }: { kind: string; reach: Reach }) {
    this.kind = kind;
    this.reach = reach;
    this.#values = new SharedDocuments<ValueDocument>(source, {
      suffix: "-value",
      isDocument: ({ version }) => typeof version === "string",
    });
    this.#keys = new SharedDocuments<KeysDocument>(source, {
      suffix: "-keys",
      isDocument: ({ keys }) => Array.isArray(keys) && keys.every(Array.isArray),
    });
  }

  async get(namespace: readonly string[], key: string): Promise<VersionedValue | null> {
    return this.#get(namespaceText(namespace), checkKey(key));
  }

  async getMany(
    namespace: readonly string[],
    keys: readonly string[],
  ): Promise<readonly (VersionedValue | null)[]> {
    const space = namespaceText(namespace);
    const names = keys.map((key) => checkKey(key));
    const found: (VersionedValue | null)[] = [];
    for (let at = 0; at < names.length; at += PARALLEL_READS) {
      const batch = names.slice(at, at + PARALLEL_READS);
      found.push(...(await Promise.all(batch.map((name) => this.#get(space, name)))));
    }
    return found;
  }

  async put(
    namespace: readonly string[],
    key: string,
    value: JsonValue,
    { expected }: KeyValueCondition = {},
  ): Promise<string> {
    const space = namespaceText(namespace);
    const name = checkKey(key);
    const copy = JSON.parse(checkValue(name, value)) as JsonValue;
    const version = uuidv7();
    const what = `putting ${describeKey(name)}`;
    for (;;) {
      const before = await this.#values.read(valueName(space, name), what);
      if (!isThere(before)) {
        // What cannot be put is not listed.
        checkCondition(name, expected, before);
        await this.#enlist(space, name, what);
      }
      const isPut = await this.#values.update(valueName(space, name), what, (stored) => {
        // A repeated change finds its own write.
        if (stored?.version === version) return { result: true };
        // Deleted since: the key has to be listed again first.
        if (!isThere(stored) && stored?.version !== before?.version) return { result: false };
        checkCondition(name, expected, stored);
        return { next: { v: 1, version, value: copy }, result: true };
      });
      if (isPut) return version;
    }
  }

  async delete(
    namespace: readonly string[],
    key: string,
    { expected }: KeyValueCondition = {},
  ): Promise<boolean> {
    const space = namespaceText(namespace);
    const name = checkKey(key);
    const what = `deleting ${describeKey(name)}`;
    const tombstone: ValueDocument = { v: 1, version: uuidv7() };
    const left = await this.#values.update(valueName(space, name), what, (stored) => {
      // A repeated change finds its own write.
      if (stored?.version === tombstone.version) return { result: tombstone };
      checkCondition(name, expected, stored);
      return isThere(stored) ? { next: tombstone, result: tombstone } : { result: stored };
    });
    await this.#unlist(space, name, left, what);
    return left === tombstone;
  }

  async list(namespace: readonly string[], query: KeyQuery = {}): Promise<KeyPage> {
    const { prefix = "", cursor } = query;
    const limit = checkLimit(query.limit, 100);
    const space = namespaceText(namespace);
    const stored = await this.#keys.read(hashKey(space), "listing keys");
    const found = (stored?.keys ?? [])
      .map(([key]) => key)
      .filter((key) => key.startsWith(prefix))
      .filter((key) => cursor === undefined || compareKeys(key, cursor) > 0);
    const keys = found.slice(0, limit);
    const last = keys.at(-1);
    return found.length > limit && last !== undefined ? { keys, cursor: last } : { keys };
  }

  async #get(space: string, name: string): Promise<VersionedValue | null> {
    const found = await this.#values.read(valueName(space, name), `reading ${describeKey(name)}`);
    return isThere(found) ? { value: found.value, version: found.version } : null;
  }

  /** Lists a key, with a new mark, before its value is written. */
  #enlist(space: string, name: string, what: string): Promise<void> {
    const mark = uuidv7();
    return this.#changeKeys(space, what, (keys) =>
      [...keys.filter(([each]) => each !== name), [name, mark] as const].sort(([a], [b]) =>
        compareKeys(a, b),
      ),
    );
  }

  /**
   * Unlists a key without a value.
   *
   * A put that has listed the key and not written its value yet must not go on: it finds another tombstone than before and
   * lists the key again, with a mark that is not the one removed here.
   *
   * @param left - tombstone that must still be there, if any; another delete that has replaced it unlists the key itself
   */
  async #unlist(
    space: string,
    name: string,
    left: ValueDocument | null,
    what: string,
  ): Promise<void> {
    const stored = await this.#keys.read(hashKey(space), what);
    const [, mark] = stored?.keys.find(([key]) => key === name) ?? [];
    if (mark === undefined) return;
    const next: ValueDocument = { v: 1, version: uuidv7() };
    const isGone = await this.#values.update(valueName(space, name), what, (value) => {
      if (value?.version === next.version) return { result: true };
      const isSame = value?.version === left?.version;
      return isSame ? { next, result: true } : { result: false };
    });
    if (isGone)
      await this.#changeKeys(space, what, (keys) =>
        keys.filter((entry) => entry[0] !== name || entry[1] !== mark),
      );
  }

  #changeKeys(
    space: string,
    what: string,
    change: (keys: KeysDocument["keys"]) => KeysDocument["keys"],
  ): Promise<void> {
    return this.#keys.update(hashKey(space), what, (stored) => {
      const before = stored?.keys ?? [];
      const keys = change(before);
      if (keys.length === before.length && keys.every((entry, at) => entry === before[at]))
        return { result: undefined };
      return { next: { v: 1, keys }, result: undefined };
    });
  }
}

function valueName(space: string, key: string): string {
  return hashKey(`${space}|${key}`);
}

function isThere(stored: ValueDocument | null): stored is Required<ValueDocument> {
  return stored !== null && stored.value !== undefined;
}

function checkCondition(
  key: string,
  expected: string | null | undefined,
  stored: ValueDocument | null,
): void {
  if (expected === undefined || expected === (isThere(stored) ? stored.version : null)) return;
  const found = isThere(stored) ? "holds another version" : "no longer has a value";
  throw new StateConflictError(
    `${describeKey(key)} was not changed: it ${found}; read it again and repeat the change`,
  );
}
