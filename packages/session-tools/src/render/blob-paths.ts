import type { LogRecord } from "@holdfast/core";
import type { BlobReference } from "@holdfast/core/store-kit";

/** Where in a value something is. */
export type Path = BlobReference["path"];

/** The places of a record's message from which the log took a long string. */
export class BlobPaths {
  readonly #references = new Map<string, BlobReference>();
  readonly #above = new Set<string>();

  constructor({ blobs = [] }: Pick<LogRecord, "blobs">) {
    for (const reference of blobs) {
      this.#references.set(keyOf(reference.path), reference);
      for (let length = 0; length <= reference.path.length; length++)
        this.#above.add(keyOf(reference.path.slice(0, length)));
    }
  }

  /** The string that belongs here, if the log keeps it apart. */
  at(path: Path): BlobReference | undefined {
    return this.#above.size === 0 ? undefined : this.#references.get(keyOf(path));
  }

  /** Whether a string that the log keeps apart belongs here or further down. */
  isWithin(path: Path): boolean {
    return this.#above.size > 0 && this.#above.has(keyOf(path));
  }
}

function keyOf(path: Path): string {
  return JSON.stringify(path);
}
