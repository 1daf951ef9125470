import { createHash } from "node:crypto";
import type { Filesystem } from "@holdfast/core";
import type { FileInfo, FileNamespace } from "@holdfast/core/plugin-kit";
import { fileChanges } from "./file-changes.js";
import type { ScratchTree } from "./scratch-tree.js";

/** Last known version of a file in the backing filesystem. */
interface KnownFile {
  readonly hash: string;
  /** Size and time in the listing from which it was fetched; undefined when this process wrote it. */
  readonly stamp: string | undefined;
}

/** Files fetched concurrently; each is in memory meanwhile. */
const CONCURRENCY = 4;

/**
 * Files of one namespace in the backing filesystem, with the versions that were last fetched or written back. From those
 * it knows what has changed on either side.
 */
export class BackingFiles {
  readonly #files: Filesystem;
  readonly #namespace: FileNamespace;
  readonly #known = new Map<string, KnownFile>();

  constructor(files: Filesystem, namespace: FileNamespace) {
    this.#files = files;
    this.#namespace = namespace;
  }

  /** Lists the files that commands may see. */
  async list(): Promise<readonly FileInfo[]> {
    const listed = await this.#files.list(this.#namespace);
    return listed.filter(({ kind, path }) => kind === "file" && !isHidden(path));
  }

  /**
   * Brings a tree up to date with the backing filesystem, except for files that were changed in the tree: those win when
   * they are written back.
   *
   * @param found - files of the backing filesystem
   */
  async fetch(tree: ScratchTree, found: readonly FileInfo[]): Promise<void> {
    const paths = new Set(found.map(({ path }) => path));
    for (const path of [...this.#known.keys()])
      if (!paths.has(path)) await this.#forget(tree, path);
    const queue = found.values();
    const worker = async (): Promise<void> => {
      for (const info of queue) await this.#fetchFile(tree, info);
    };
    const workers = await Promise.allSettled(Array.from({ length: CONCURRENCY }, worker));
    for (const each of workers) if (each.status === "rejected") throw each.reason;
  }

  /**
   * Writes the changes of a tree back. Each file is written whole or not at all; after a failure the next attempt
   * continues with what is missing.
   *
   * @param hashes - hash of every file in the tree
   */
  async writeBack(tree: ScratchTree, hashes: ReadonlyMap<string, string>): Promise<void> {
    const before = new Map([...this.#known].map(([path, { hash }]) => [path, hash]));
    const { removeFirst, write, removeLast } = fileChanges(before, hashes);
    for (const path of removeFirst) await this.#delete(path);
    for (const path of write) {
      const bytes = await tree.readIfFile(path);
      // Removed meanwhile by a command of another call, which writes its changes back when it leaves.
      if (bytes === null) continue;
      await this.#files.write(this.#namespace, path, bytes);
      this.#known.set(path, { hash: contentHash(bytes), stamp: undefined });
    }
    for (const path of removeLast) await this.#delete(path);
  }

  async #fetchFile(tree: ScratchTree, info: FileInfo): Promise<void> {
    const { path } = info;
    const stamp = `${info.bytes} ${info.modifiedAt}`;
    const known = this.#known.get(path);
    if (known?.stamp === stamp) return;
    const bytes = await this.#files.read(this.#namespace, path);
    if (bytes === null) return;
    const hash = contentHash(bytes);
    if (hash !== known?.hash) {
      if (!(await this.#isUnchanged(tree, path))) return;
      if (!(await tree.restore(path, bytes))) return;
    }
    this.#known.set(path, { hash, stamp });
  }

  /** Returns true when a tree has the version of a file that was fetched or written back, or has none where none was. */
  async #isUnchanged(tree: ScratchTree, path: string): Promise<boolean> {
    const bytes = await tree.readIfFile(path);
    return (bytes === null ? undefined : contentHash(bytes)) === this.#known.get(path)?.hash;
  }

  async #forget(tree: ScratchTree, path: string): Promise<void> {
    if (await this.#isUnchanged(tree, path)) await tree.delete(path);
    this.#known.delete(path);
  }

  async #delete(path: string): Promise<void> {
    await this.#files.delete(this.#namespace, path);
    this.#known.delete(path);
  }
}

/** Returns the hash by which versions of a file are compared. */
export function contentHash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64");
}

/**
 * Returns true for a path below `agents/`, where agents keep logs and tasks: it stays in the backing filesystem, and
 * commands can neither see nor change it.
 *
 * @param path - in its normalised form
 */
export function isHidden(path: string): boolean {
  return path === "agents" || path.startsWith("agents/");
}
