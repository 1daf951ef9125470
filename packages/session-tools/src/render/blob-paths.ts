import type { LogRecord } from "@holdfast/core";
import type { BlobReference } from "@holdfast/core/store-kit";

/** Path to a part of a value. */
export type Path = BlobReference["path"];

/** Paths in a record's message whose strings the log keeps as blobs. */
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

  /** Returns the blob of the string at a path, if there is one. */
  at(path: Path): BlobReference | undefined {
    return this.#above.size === 0 ? undefined : this.#references.get(keyOf(path));
  }

  /** Tells whether there is a blob at a path or below it. */
  isWithin(path: Path): boolean {
    return this.#above.size > 0 && this.#above.has(keyOf(path));
  }
}

function keyOf(path: Path): string {
  return JSON.stringify(path);
}
