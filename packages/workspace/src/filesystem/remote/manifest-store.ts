import { type KeyValueStore, StateConflictError, StoreError } from "@holdfast/core";
import type { VersionedValue } from "@holdfast/core/store-kit";
import { notDirectoryRefusal, notFileRefusal } from "../refusals.js";
import { fileKey, keyPrefix, parentsOf } from "./file-key.js";
import { type Manifest, manifestValue, readManifest } from "./manifest.js";

/** Manifest with the version under which it is stored. */
export interface StoredVersion {
  readonly manifest: Manifest;
  readonly version: string;
}

/** Outcome of putting a manifest, with the manifest that is stored now. */
export type PutOutcome =
  | { readonly isPut: true; readonly current: StoredVersion }
  | { readonly isPut: false; readonly current: StoredVersion | null };

const PAGE_KEYS = 100;

/** Manifests of the files of one namespace. */
export class ManifestStore {
  readonly #keyValue: KeyValueStore;
  readonly #namespace: readonly string[];

  constructor(keyValue: KeyValueStore, namespace: readonly string[]) {
    this.#keyValue = keyValue;
    this.#namespace = namespace;
  }

  /** Returns the manifest of a path; null when there is none. */
  async get(path: string): Promise<StoredVersion | null> {
    const key = fileKey(path);
    return stored(key, await this.#keyValue.get(this.#namespace, key));
  }

  /** Returns the manifests of several paths, in their order. */
  async getMany(paths: readonly string[]): Promise<readonly (StoredVersion | null)[]> {
    if (paths.length === 0) return [];
    return this.#ofKeys(paths.map(fileKey));
  }

  /** Replaces the version `expected` by a manifest; returns the current manifest where another version is stored. */
  async put(manifest: Manifest, expected: string | null): Promise<PutOutcome> {
    const key = fileKey(manifest.path);
    try {
      const value = manifestValue(manifest);
      const version = await this.#keyValue.put(this.#namespace, key, value, { expected });
      return { isPut: true, current: { manifest, version } };
    } catch (error) {
      const isConflict = StateConflictError.is(error);
      if (!isConflict && !(StoreError.is(error) && error.mayHaveApplied)) throw error;
      // The reply to a put that was applied may have been lost, here or before a retry of the store's own.
      const current = await this.get(manifest.path).catch(() => {
        throw error;
      });
      if (current?.manifest.id === manifest.id) return { isPut: true, current };
      if (!isConflict) throw error;
      return { isPut: false, current };
    }
  }

  /** Deletes a manifest; false when another version is stored. */
  async remove({ manifest, version }: StoredVersion): Promise<boolean> {
    const condition = { expected: version };
    try {
      return await this.#keyValue.delete(this.#namespace, fileKey(manifest.path), condition);
    } catch (error) {
      if (StateConflictError.is(error)) return false;
      throw error;
    }
  }

  /** Returns the manifests of everything below a directory, page by page. */
  async *below(directory: string): AsyncGenerator<readonly StoredVersion[]> {
    const prefix = keyPrefix(directory);
    const within = directory === "" ? "" : `${directory}/`;
    let cursor: string | undefined;
    do {
      const page = await this.#keyValue.list(this.#namespace, { prefix, cursor, limit: PAGE_KEYS });
      const found = page.keys.length === 0 ? [] : await this.#ofKeys(page.keys);
      yield found.filter((each) => each !== null).filter(isWithin(within));
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  /**
   * Checks that a file may be created at a path: none of its parents is a file, and the path itself is not a directory.
   *
   * @throws InvalidInputError
   */
  async checkNew(path: string): Promise<void> {
    const parents = parentsOf(path);
    const [found, isDirectory] = await Promise.all([this.getMany(parents), this.#hasFiles(path)]);
    const file = parents.find((_, index) => isFile(found[index] ?? null));
    if (file !== undefined) throw notDirectoryRefusal(file);
    if (isDirectory) throw notFileRefusal(path);
  }

  async #hasFiles(directory: string): Promise<boolean> {
    for await (const page of this.below(directory)) if (page.some(isFile)) return true;
    return false;
  }

  async #ofKeys(keys: readonly string[]): Promise<readonly (StoredVersion | null)[]> {
    const values = await this.#keyValue.getMany(this.#namespace, keys);
    return keys.map((key, index) => stored(key, values[index] ?? null));
  }
}

function isFile(stored: StoredVersion | null): boolean {
  return stored !== null && !stored.manifest.isVacant;
}

function isWithin(prefix: string): (found: StoredVersion) => boolean {
  return ({ manifest }) => manifest.path.startsWith(prefix);
}

function stored(key: string, found: VersionedValue | null): StoredVersion | null {
  return found && { manifest: readManifest(key, found.value), version: found.version };
}
