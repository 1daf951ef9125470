/** A value and the version that names this very write of it. */
export interface StoredDocument {
  readonly value: string;
  readonly version: string;
}

/** One page of keys; `cursor` is absent on the last one. */
export interface DocumentKeys {
  readonly keys: readonly string[];
  readonly cursor?: string | undefined;
}

/**
 * What `documentStore` needs of a key-value client: four commands over strings.
 *
 * Contract:
 * - `get` resolves to `null` for a key that is not there and sees every write that was acknowledged before.
 * - `compareAndSet` writes `value` in one atomic step, only if the stored version is `expectedVersion` (`null`: only if
 *   the key is absent). `true`: written. `false`: another version is there and nothing was or will be written.
 * - A version names one write and is never used again, not even after a delete.
 * - `delete` resolves to whether there was something to delete.
 * - `list` shows every key that is there throughout the listing, in any order; others' keys may be among them.
 * - A command may throw. A write that throws counts as one that may have been applied, unless the error is a
 *   `HoldfastError`, which is passed on as it is: throw `StoreUnavailableError` where a write was certainly not applied.
 * - A command may hang: the store stops waiting after its own deadline.
 *
 * Keys are the prefix and 52 lower-case letters and digits; values are JSON text, also of many megabytes.
 */
export interface DocumentClient {
  get(key: string): Promise<StoredDocument | null>;
  compareAndSet(key: string, value: string, expectedVersion: string | null): Promise<boolean>;
  delete(key: string): Promise<boolean>;
  list(cursor?: string): Promise<DocumentKeys>;
}
