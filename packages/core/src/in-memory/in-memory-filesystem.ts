import { InvalidInputError } from "../errors/errors.js";
import { checkDirectoryPath, checkFilePath } from "../plugin-kit/check-path.js";
import type { FileInfo, FileNamespace, Filesystem } from "../ports/filesystem.js";
import { checkSlot } from "../slot/slot.js";

interface StoredFile {
  readonly bytes: Uint8Array;
  readonly modifiedAt: string;
}

/** Options of an {@link InMemoryFilesystem}. */
export interface InMemoryFilesystemOptions {
  /** Clock for `modifiedAt`. @default the system's clock */
  readonly clock?: (() => Date) | undefined;
}

/**
 * Keeps files for as long as this object lives: the reference filesystem.
 *
 * - A user's files are the same in every session and for every agent that uses this object; a session without a user has
 *   its own.
 * - A directory exists while there is a file in it.
 *
 * @example
 * const filesystem = new InMemoryFilesystem();
 */
export class InMemoryFilesystem implements Filesystem {
  readonly contract = 1;
  readonly kind = "memory";
  readonly reach = "process";
  readonly #namespaces = new Map<string, Map<string, StoredFile>>();
  readonly #clock: () => Date;

  constructor(options: InMemoryFilesystemOptions = {}) {
    this.#clock = options.clock ?? (() => new Date());
  }

  async read(namespace: FileNamespace, path: string): Promise<Uint8Array | null> {
    const file = this.#files(namespace).get(checkFilePath(path));
    return file === undefined ? null : file.bytes.slice();
  }

  async write(namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void> {
    this.#put(namespace, checkFilePath(path), new Uint8Array(bytes));
  }

  async append(namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void> {
    const name = checkFilePath(path);
    const before = this.#files(namespace).get(name)?.bytes ?? new Uint8Array();
    const whole = new Uint8Array(before.length + bytes.length);
    whole.set(before);
    whole.set(bytes, before.length);
    this.#put(namespace, name, whole);
  }

  async delete(namespace: FileNamespace, path: string): Promise<boolean> {
    const files = this.#files(namespace);
    const deleted = files.delete(checkFilePath(path));
    if (files.size === 0) this.#namespaces.delete(namespaceKey(namespace));
    return deleted;
  }

  async list(namespace: FileNamespace, path = ""): Promise<readonly FileInfo[]> {
    const directory = checkDirectoryPath(path);
    const below = directory === "" ? "" : `${directory}/`;
    const found = new Map<string, FileInfo>();
    for (const [name, { bytes, modifiedAt }] of this.#files(namespace)) {
      if (!name.startsWith(below)) continue;
      found.set(name, { path: name, kind: "file", bytes: bytes.length, modifiedAt });
      for (const parent of parentsOf(name)) {
        if (!parent.startsWith(below)) continue;
        const known = found.get(parent);
        if (known === undefined || known.modifiedAt < modifiedAt)
          found.set(parent, { path: parent, kind: "directory", bytes: 0, modifiedAt });
      }
    }
    return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  #files(namespace: FileNamespace): Map<string, StoredFile> {
    return this.#namespaces.get(namespaceKey(namespace)) ?? new Map();
  }

  #put(namespace: FileNamespace, path: string, bytes: Uint8Array): void {
    const files = this.#files(namespace);
    for (const parent of parentsOf(path))
      if (files.has(parent))
        throw new InvalidInputError(`${JSON.stringify(parent)} is a file, not a directory`);
    for (const name of files.keys())
      if (name.startsWith(`${path}/`))
        throw new InvalidInputError(`${JSON.stringify(path)} is a directory, not a file`);
    files.set(path, { bytes, modifiedAt: this.#clock().toISOString() });
    this.#namespaces.set(namespaceKey(namespace), files);
  }
}

function namespaceKey(namespace: FileNamespace): string {
  const { userId, sessionId } = checkSlot(namespace);
  return userId === null ? `0${sessionId}` : `1${userId}`;
}

function parentsOf(path: string): string[] {
  const parents: string[] = [];
  for (let end = path.indexOf("/"); end >= 0; end = path.indexOf("/", end + 1))
    parents.push(path.slice(0, end));
  return parents;
}
