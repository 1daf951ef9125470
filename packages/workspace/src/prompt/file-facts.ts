import type { FileInfo } from "@holdfast/core/plugin-kit";

/** A change within the same tick of a file system's clock cannot be seen in a listing. */
const SETTLED_AFTER_MS = 2_000;

interface Known<T> {
  readonly bytes: number;
  readonly modifiedAt: string;
  readonly fact: T;
}

/** Remembers what was found out about files until they change; bounded, the oldest go first. */
export class FileFacts<T> {
  readonly #known = new Map<string, Known<T>>();
  readonly #maxEntries: number;

  constructor(maxEntries = 2_000) {
    this.#maxEntries = maxEntries;
  }

  async of(info: FileInfo, find: () => Promise<T>): Promise<T> {
    const { path, bytes, modifiedAt } = info;
    const known = this.#known.get(path);
    if (known?.bytes === bytes && known.modifiedAt === modifiedAt) return known.fact;
    // Read before the clock: a file changed while it was read is too young to be remembered.
    const fact = await find();
    this.#known.delete(path);
    if (Date.now() - Date.parse(modifiedAt) > SETTLED_AFTER_MS) {
      this.#known.set(path, { bytes, modifiedAt, fact });
      for (const oldest of this.#known.keys()) {
        if (this.#known.size <= this.#maxEntries) break;
        this.#known.delete(oldest);
      }
    }
    return fact;
  }
}
