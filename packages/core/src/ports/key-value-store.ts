import type { JsonValue } from "../json/json.js";
import type { Reach } from "./agent-state-store.js";

/** A value and the version that names this very write of it. */
export interface VersionedValue {
  readonly value: JsonValue;
  readonly version: string;
}

/** What a `put` or `delete` may depend on. */
export interface KeyValueCondition {
  /** The version that must be stored: `null` = must be absent, undefined = whatever is there. */
  readonly expected?: string | null | undefined;
}

/** Which keys of a namespace to list. */
export interface KeyQuery {
  readonly prefix?: string | undefined;
  /** @default 100 */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** One page of keys in ascending order; `cursor` is absent on the last one. */
export interface KeyPage {
  readonly keys: readonly string[];
  readonly cursor?: string | undefined;
}

/**
 * Small versioned values by (namespace, key).
 *
 * Contract:
 * - A namespace is a path of non-empty strings; two different paths never meet, `["a","b"]` and `["a/b"]` included.
 * - `put` and `delete` with `expected` are compare-and-set and throw `StateConflictError` when another version is there.
 * - Versions are never reused, not even after a delete.
 * - Keys are non-empty well-formed strings up to 1,024 UTF-16 units; a value is at most 1 MB as JSON
 *   (`StateTooLargeError`).
 */
export interface KeyValueStore {
  readonly contract: 1;
  readonly kind: string;
  readonly reach: Reach;
  get(namespace: readonly string[], key: string): Promise<VersionedValue | null>;
  /** Values in the order of `keys`. */
  getMany(
    namespace: readonly string[],
    keys: readonly string[],
  ): Promise<readonly (VersionedValue | null)[]>;
  /** The new version. */
  put(
    namespace: readonly string[],
    key: string,
    value: JsonValue,
    condition?: KeyValueCondition,
  ): Promise<string>;
  /** Whether there was something to delete. */
  delete(
    namespace: readonly string[],
    key: string,
    condition?: KeyValueCondition,
  ): Promise<boolean>;
  list(namespace: readonly string[], query?: KeyQuery): Promise<KeyPage>;
}
