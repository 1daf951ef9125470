import type { FileInfo } from "@holdfast/core/plugin-kit";

/** Read-only files that exist only in the program, such as skills given as options. */
export class VirtualFiles {
  readonly #files: ReadonlyMap<string, Uint8Array>;
  readonly #madeAt = new Date().toISOString();

  /** @param texts - contents by path */
  constructor(texts: ReadonlyMap<string, string>) {
    this.#files = new Map([...texts].map(([path, text]) => [path, new TextEncoder().encode(text)]));
  }

  read(path: string): Uint8Array | null {
    return this.#files.get(path)?.slice() ?? null;
  }

  /** Everything below a directory. */
  list(directory: string): FileInfo[] {
    const below = directory === "" ? "" : `${directory}/`;
    return [...this.#files]
      .filter(([path]) => path.startsWith(below))
      .map(([path, { length: bytes }]) => ({
        path,
        kind: "file",
        bytes,
        modifiedAt: this.#madeAt,
      }));
  }
}
