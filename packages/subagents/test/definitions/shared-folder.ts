import type { FileInfo, SharedFiles } from "@holdfast/core/plugin-kit";

/** Shared files in memory that count how they are used. Their times are long past, so that they can be cached. */
export class SharedFolder implements SharedFiles {
  readonly reads: string[] = [];
  lists = 0;
  readonly #files = new Map<string, { readonly bytes: Uint8Array; readonly modifiedAt: string }>();
  #clock = Date.UTC(2026, 0, 1);

  constructor(files: Readonly<Record<string, string | Uint8Array>> = {}) {
    for (const [path, content] of Object.entries(files)) this.write(path, content);
  }

  write(path: string, content: string | Uint8Array): void {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    this.#clock += 1_000;
    this.#files.set(path, { bytes, modifiedAt: new Date(this.#clock).toISOString() });
  }

  delete(path: string): void {
    this.#files.delete(path);
  }

  async read(path: string): Promise<Uint8Array | null> {
    this.reads.push(path);
    return this.#files.get(path)?.bytes ?? null;
  }

  async list(path = ""): Promise<readonly FileInfo[]> {
    this.lists++;
    const infos = new Map<string, FileInfo>();
    for (const [name, { bytes, modifiedAt }] of this.#files) {
      if (!name.startsWith(`${path}/`)) continue;
      infos.set(name, { path: name, kind: "file", bytes: bytes.length, modifiedAt });
      const parent = name.slice(0, name.lastIndexOf("/"));
      if (parent !== path)
        infos.set(parent, { path: parent, kind: "directory", bytes: 0, modifiedAt });
    }
    return [...infos.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
  }
}
