import { type KeyValueStore, StateConflictError, StoreError } from "@holdfast/core";
import type { VersionedValue } from "@holdfast/core/store-kit";
import { fileKey, keyPrefix } from "./file-key.js";
import { type Manifest, manifestValue, readManifest } from "./manifest.js";

/** A manifest and the version under which it is stored. */
export interface StoredVersion {
  readonly manifest: Manifest;
  readonly version: string;
}

/** What came of putting a manifest, and what is stored now. */
export type PutOutcome =
  | { readonly isPut: true; readonly current: StoredVersion }
  | { readonly isPut: false; readonly current: StoredVersion | null };

const PAGE = 100;

/** The manifests of one namespace. */
export class ManifestStore {
  readonly #keyValue: KeyValueStore;
  readonly #namespace: readonly string[];

  constructor(keyValue: KeyValueStore, namespace: readonly string[]) {
    this.#keyValue = keyValue;
    this.#namespace = namespace;
  }

  async get(path: string): Promise<StoredVersion | null> {
    const key = fileKey(path);
    return stored(key, await this.#keyValue.get(this.#namespace, key));
  }

  /** Those of several paths, in their order. */
  async getMany(paths: readonly string[]): Promise<readonly (StoredVersion | null)[]> {
    if (paths.length === 0) return [];
    return this.#ofKeys(paths.map(fileKey));
  }

  /** Puts a manifest in the place of the version `expected`, and says what is there when that is not there any more. */
  async put(manifest: Manifest, expected: string | null): Promise<PutOutcome> {
    const key = fileKey(manifest.path);
    try {
      const value = manifestValue(manifest);
      const version = await this.#keyValue.put(this.#namespace, key, value, { expected });
      return { isPut: true, current: { manifest, version } };
    } catch (error) {
      const isConflict = StateConflictError.is(error);
      if (!isConflict && !(StoreError.is(error) && error.mayHaveApplied)) throw error;
      // The answer to a put that was applied may have been lost, here or in the store's own second try.
      const current = await this.get(manifest.path).catch(() => {
        throw error;
      });
      if (current?.manifest.id === manifest.id) return { isPut: true, current };
      if (!isConflict) throw error;
      return { isPut: false, current };
    }
  }

  /** Deletes a manifest; false when another version is there. */
  async remove({ manifest, version }: StoredVersion): Promise<boolean> {
    const condition = { expected: version };
    try {
      return await this.#keyValue.delete(this.#namespace, fileKey(manifest.path), condition);
    } catch (error) {
      if (StateConflictError.is(error)) return false;
      throw error;
    }
  }

  /** The manifests of everything below a directory, page by page. */
  async *below(directory: string): AsyncGenerator<readonly StoredVersion[]> {
    const prefix = keyPrefix(directory);
    const within = directory === "" ? "" : `${directory}/`;
    let cursor: string | undefined;
    do {
      const page = await this.#keyValue.list(this.#namespace, { prefix, cursor, limit: PAGE });
      const found = page.keys.length === 0 ? [] : await this.#ofKeys(page.keys);
      yield found.filter((each) => each !== null).filter(isWithin(within));
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  async #ofKeys(keys: readonly string[]): Promise<readonly (StoredVersion | null)[]> {
    const values = await this.#keyValue.getMany(this.#namespace, keys);
    return keys.map((key, index) => stored(key, values[index] ?? null));
  }
}

function isWithin(prefix: string): (found: StoredVersion) => boolean {
  return ({ manifest }) => manifest.path.startsWith(prefix);
}

function stored(key: string, found: VersionedValue | null): StoredVersion | null {
  return found && { manifest: readManifest(key, found.value), version: found.version };
}
