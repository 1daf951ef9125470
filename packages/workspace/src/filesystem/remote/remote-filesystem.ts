import type { Filesystem, KeyValueStore, Reach } from "@holdfast/core";
import {
  checkDirectoryPath,
  checkFilePath,
  type FileInfo,
  type FileNamespace,
  KeyedQueue,
  parseOptions,
  type SharedFiles,
} from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { checkBytes, checkPathDepth, maxFileBytesSchema, tooLarge } from "../limits.js";
import { namespaceNames } from "../namespace-names.js";
import { appendDraft, type Draft, wholeDraft } from "./draft.js";
import { parentsOf } from "./file-key.js";
import { FileSpace } from "./file-space.js";
import { KnownFiles } from "./known-files.js";
import { fileBytes, type Manifest } from "./manifest.js";

/** Options of a {@link RemoteFilesystem}. */
export interface RemoteFilesystemOptions {
  /** Store of the files; owned by the caller. */
  readonly keyValue: KeyValueStore;
  /** Tells workspaces on one store apart: agents with the same name share a user's files. @default "workspace" */
  readonly name?: string | undefined;
  /** Files that all users share. @default none */
  readonly shared?: SharedFiles | undefined;
  /** Largest file that is read or written. @default 67_108_864 */
  readonly maxFileBytes?: number | undefined;
}

const optionsSchema = s.strictObject({
  keyValue: s.custom<KeyValueStore>(
    (value) =>
      typeof value === "object" && value !== null && "contract" in value && value.contract === 1,
    "must be a KeyValueStore of contract 1",
  ),
  name: s.string().min(1).max(255).default("workspace"),
  shared: s.custom<SharedFiles>((value) => typeof value === "object" && value !== null).optional(),
  maxFileBytes: maxFileBytesSchema,
});

/**
 * Files in a key-value store, for agents that run on several nodes.
 *
 * - A reader sees one version of a file; a crash at any point leaves the old version or the new one.
 * - Concurrent appends of any number of nodes lose nothing, and an append costs the same however large the file is.
 * - Chunks that a crash leaves behind are removed by the next large write or deletion of the file, or by a listing.
 *
 * @example
 * const files = new RemoteFilesystem({ keyValue: RedisDistributedStore.from(client).keyValue });
 */
export class RemoteFilesystem implements Filesystem {
  readonly contract = 1;
  readonly kind = "remote";
  readonly reach: Reach;
  readonly shared?: SharedFiles | undefined;
  readonly #keyValue: KeyValueStore;
  readonly #name: string;
  readonly #maxFileBytes: number;
  /** Changes of one file by this process run one after another, so that it contends only with other processes. */
  readonly #changes = new KeyedQueue();
  readonly #known = new KnownFiles();

  /** @throws ConfigurationError */
  constructor(options: RemoteFilesystemOptions) {
    const parsed = parseOptions(optionsSchema, options, "RemoteFilesystem");
    this.#keyValue = parsed.keyValue;
    this.#name = parsed.name;
    this.#maxFileBytes = parsed.maxFileBytes;
    this.shared = parsed.shared;
    this.reach = parsed.keyValue.reach;
  }

  async read(namespace: FileNamespace, path: string): Promise<Uint8Array | null> {
    return this.#space(namespace).read(checkFilePath(path));
  }

  /** Reads a file as this process last saw it; one of more than 64 KB is read from the store each time. */
  async readCached(namespace: FileNamespace, path: string): Promise<Uint8Array | null> {
    const name = checkFilePath(path);
    const space = this.#space(namespace);
    const { bytes } = await this.#known.seen(fileId(namespace, name), space, name);
    return bytes === undefined ? space.read(name) : bytes;
  }

  /** Asks the store for a file's version, and reads the file if that is a new one. */
  async refresh(namespace: FileNamespace, path: string): Promise<void> {
    const name = checkFilePath(path);
    await this.#known.look(fileId(namespace, name), this.#space(namespace), name);
  }

  async write(namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void> {
    const name = checkFilePath(path);
    checkBytes(name, bytes, this.#maxFileBytes);
    const draft = wholeDraft(new Uint8Array(bytes));
    await this.#change(namespace, name, true, async () => draft);
  }

  async append(namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void> {
    const name = checkFilePath(path);
    checkBytes(name, bytes, this.#maxFileBytes);
    const added = new Uint8Array(bytes);
    await this.#change(namespace, name, false, async (current, space) => {
      if (current === null) return wholeDraft(added);
      const size = fileBytes(current) + added.length;
      if (size > this.#maxFileBytes) throw tooLarge(name, size, this.#maxFileBytes);
      return appendDraft(current, added, (chunks) => space.chunks.read(name, chunks));
    });
  }

  async delete(namespace: FileNamespace, path: string): Promise<boolean> {
    const name = checkFilePath(path);
    const space = this.#space(namespace);
    return this.#changing(namespace, name, () => space.delete(name));
  }

  async list(namespace: FileNamespace, path = ""): Promise<readonly FileInfo[]> {
    return listFiles(this.#space(namespace), checkDirectoryPath(path));
  }

  async #change(
    namespace: FileNamespace,
    path: string,
    sweeps: boolean,
    plan: (current: Manifest | null, space: FileSpace) => Promise<Draft | null>,
  ): Promise<void> {
    checkPathDepth(path, path.split("/").length);
    const space = this.#space(namespace);
    let isChecked = false;
    await this.#changing(namespace, path, () =>
      space.change(
        path,
        async (current) => {
          if (current === null && !isChecked) await space.manifests.checkNew(path);
          isChecked = true;
          return plan(current, space);
        },
        sweeps,
      ),
    );
  }

  /** Runs a change of a file; what was known of it before is forgotten, whatever comes of the change. */
  async #changing<T>(namespace: FileNamespace, path: string, change: () => Promise<T>): Promise<T> {
    const key = fileId(namespace, path);
    try {
      return await this.#changes.run(key, change);
    } finally {
      this.#known.forget(key);
    }
  }

  #space(namespace: FileNamespace): FileSpace {
    const names = [this.#name, ...namespaceNames(namespace)];
    return new FileSpace(this.#keyValue, names, this.#maxFileBytes);
  }
}

function fileId(namespace: FileNamespace, path: string): string {
  const [kind, id] = namespaceNames(namespace);
  return `${kind} ${id.length} ${id} ${path}`;
}

/** Age at which a file that was announced but never written is taken to be abandoned. */
const STALE_AFTER_MS = 3_600_000;

/** Lists everything below a directory, in path order, and removes files that were announced but never written. */
async function listFiles(space: FileSpace, directory: string): Promise<FileInfo[]> {
  const found = new Map<string, FileInfo>();
  for await (const page of space.manifests.below(directory))
    for (const stored of page) {
      const { manifest } = stored;
      if (!manifest.isVacant) addFile(found, directory, manifest);
      else if (Date.now() - Date.parse(manifest.modifiedAt) > STALE_AFTER_MS)
        await space.vacate(stored).catch(() => undefined);
    }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Adds a file and the directories its path goes through. */
function addFile(found: Map<string, FileInfo>, directory: string, manifest: Manifest): void {
  const { path, modifiedAt } = manifest;
  found.set(path, { path, kind: "file", bytes: fileBytes(manifest), modifiedAt });
  for (const parent of parentsOf(path)) {
    if (directory !== "" && !parent.startsWith(`${directory}/`)) continue;
    const known = found.get(parent);
    // Two processes at once can create a file and a directory of one name: both can be read, the file is listed.
    if (known === undefined || (known.kind === "directory" && known.modifiedAt < modifiedAt))
      found.set(parent, { path: parent, kind: "directory", bytes: 0, modifiedAt });
  }
}
