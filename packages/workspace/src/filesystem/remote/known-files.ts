import { BoundedMap } from "@holdfast/core/plugin-kit";
import { MAX_CACHED_BYTES, MAX_CACHED_FILES } from "../limits.js";
import type { FileSpace, FileVersion } from "./file-space.js";

interface KnownFile {
  /** Version that was stored when it was last looked for. */
  last: FileVersion | undefined;
  readonly looking: Promise<FileVersion>;
}

/** Small files as this process last saw them in the store; of large ones only the version. */
export class KnownFiles {
  readonly #files = new BoundedMap<string, KnownFile>({
    maxEntries: MAX_CACHED_FILES,
    leastRecentlyUsed: true,
  });

  /** Returns a file as it was last seen, or looks for it; `bytes` are undefined for a large one. */
  seen(key: string, space: FileSpace, path: string): Promise<FileVersion> {
    return this.#files.get(key)?.looking ?? this.look(key, space, path);
  }

  /**
   * Reads a file unless the version seen last is still the stored one. Those who ask meanwhile wait for the answer; one that
   * was overtaken, by another look or by a change here, is not kept.
   */
  look(key: string, space: FileSpace, path: string): Promise<FileVersion> {
    const last = this.#files.get(key)?.last;
    const looking = space.readVersion(path, last, MAX_CACHED_BYTES);
    const file: KnownFile = { last, looking };
    this.#files.set(key, file);
    looking.then(
      (found) => {
        file.last = found;
      },
      () => {
        if (this.#files.get(key) === file) this.#files.delete(key);
      },
    );
    return looking;
  }

  /** Forgets a file that was changed, or may have been. */
  forget(key: string): void {
    this.#files.delete(key);
  }
}
