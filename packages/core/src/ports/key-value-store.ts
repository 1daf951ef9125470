import type { JsonValue } from "../json/json.js";
import type { Reach } from "./agent-state-store.js";

/** Value and the version of the write that stored it. */
export interface VersionedValue {
  readonly value: JsonValue;
  readonly version: string;
}

/** Condition of a `put` or `delete`. */
export interface KeyValueCondition {
  /** Version that must be stored; `null` when the key must be absent. @default no condition */
  readonly expected?: string | null | undefined;
}

/** Selection of keys of a namespace. */
export interface KeyQuery {
  readonly prefix?: string | undefined;
  /** @default 100 */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** One page of keys in ascending order of their code points; `cursor` is absent on the last one. */
export interface KeyPage {
  readonly keys: readonly string[];
  readonly cursor?: string | undefined;
}

/**
 * Keeps small versioned values by namespace and key.
 *
 * Contract:
 * - A namespace is a path of non-empty strings; different paths never share keys, `["a","b"]` and `["a/b"]` included.
 * - `put` and `delete` with `expected` are compare-and-set and throw `StateConflictError` when another version is there.
 * - Versions are never reused, not even after a delete.
 * - Keys are listed by their code points, which is the order of their UTF-8 bytes and not that of `sort()`: U+FF5E comes before
 *   U+1F600. `compareKeys` of the store kit compares so. A prefix is literal, whatever characters it has.
 * - Keys are non-empty well-formed strings up to 1,024 UTF-16 units; a value is at most 1 MB as JSON
 *   (`StateTooLargeError`).
 */
export interface KeyValueStore {
  readonly contract: 1;
  readonly kind: string;
  readonly reach: Reach;
  /** Reads a value; `null` when there is none. */
  get(namespace: readonly string[], key: string): Promise<VersionedValue | null>;
  /** Reads several values, in the order of `keys`. */
  getMany(
    namespace: readonly string[],
    keys: readonly string[],
  ): Promise<readonly (VersionedValue | null)[]>;
  /** Stores a value and returns its new version. */
  put(
    namespace: readonly string[],
    key: string,
    value: JsonValue,
    condition?: KeyValueCondition,
  ): Promise<string>;
  /** Deletes a key; resolves to `false` when there was none. */
  delete(
    namespace: readonly string[],
    key: string,
    condition?: KeyValueCondition,
  ): Promise<boolean>;
  /** Lists keys in ascending order of their code points. */
  list(namespace: readonly string[], query?: KeyQuery): Promise<KeyPage>;
}
