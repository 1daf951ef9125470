import type { FileInfo } from "../ports/filesystem.js";

/** Age below which a file is not cached: a change within one tick of a file system's clock does not show in a listing. */
const SETTLED_AFTER_MS = 2_000;

interface Known<T> {
  readonly bytes: number;
  readonly modifiedAt: string;
  readonly value: T;
}

/**
 * Caches a value derived from each file until the file changes; bounded, the oldest entries are dropped first.
 *
 * @example
 * const titles = new FileCache<string>();
 * for (const info of await files.list("notes")) await titles.get(info, () => readTitle(info.path));
 */
export class FileCache<T> {
  readonly #known = new Map<string, Known<T>>();
  readonly #maxEntries: number;

  constructor(maxEntries = 2_000) {
    this.#maxEntries = maxEntries;
  }

  /** Returns the cached value for a file, or derives it. */
  async get(info: FileInfo, derive: () => Promise<T>): Promise<T> {
    const { path, bytes, modifiedAt } = info;
    const known = this.#known.get(path);
    if (known?.bytes === bytes && known.modifiedAt === modifiedAt) return known.value;
    // Read before the clock: a file that changed while it was read is too young to be cached.
    const value = await derive();
    this.#known.delete(path);
    if (Date.now() - Date.parse(modifiedAt) > SETTLED_AFTER_MS) {
      this.#known.set(path, { bytes, modifiedAt, value });
      for (const oldest of this.#known.keys()) {
        if (this.#known.size <= this.#maxEntries) break;
        this.#known.delete(oldest);
      }
    }
    return value;
  }
}
