import type { Filesystem } from "@holdfast/core";
import type { FileInfo, FileNamespace } from "@holdfast/core/plugin-kit";
import { contentHash } from "./content-hash.js";
import { fileChanges } from "./file-changes.js";
import { isHidden } from "./hidden-path.js";
import type { ScratchTree } from "./scratch-tree.js";

/** What is known of a file where it stays. */
interface KnownFile {
  readonly hash: string;
  /** How a listing showed it before it was read; undefined when this process wrote it. */
  readonly stamp: string | undefined;
}

/** How many files are fetched at a time; each is in memory meanwhile. */
const width = 4;

/** The files of a namespace where they stay, and what was there when they were last fetched or kept. */
export class KeptFiles {
  readonly #files: Filesystem;
  readonly #namespace: FileNamespace;
  readonly #known = new Map<string, KnownFile>();

  constructor(files: Filesystem, namespace: FileNamespace) {
    this.#files = files;
    this.#namespace = namespace;
  }

  /**
   * Brings what is new or changed where files stay into a tree, and takes away what is gone, except where the tree has
   * changes of its own: those win when they are kept.
   *
   * @returns what is there
   */
  async fetch(tree: ScratchTree): Promise<readonly FileInfo[]> {
    const listed = await this.#files.list(this.#namespace);
    const found = listed.filter(({ kind, path }) => kind === "file" && !isHidden(path));
    const paths = new Set(found.map(({ path }) => path));
    for (const path of [...this.#known.keys()]) if (!paths.has(path)) await this.#drop(tree, path);
    const queue = found.values();
    const worker = async (): Promise<void> => {
      for (const info of queue) await this.#fetchFile(tree, info);
    };
    const workers = await Promise.allSettled(Array.from({ length: width }, worker));
    for (const each of workers) if (each.status === "rejected") throw each.reason;
    return found;
  }

  /**
   * Keeps what a tree has changed. Each file is kept as a whole or not at all; after a failure the next attempt goes on
   * with what is missing.
   *
   * @param hashes - what is in the tree
   */
  async keep(tree: ScratchTree, hashes: ReadonlyMap<string, string>): Promise<void> {
    const before = new Map([...this.#known].map(([path, { hash }]) => [path, hash]));
    const { makeRoom, write, remove } = fileChanges(before, hashes);
    for (const path of makeRoom) await this.#delete(path);
    for (const path of write) {
      const bytes = await tree.readIfFile(path);
      // Gone since: another call's command is at work. That call keeps it, or its absence, when it leaves.
      if (bytes === null) continue;
      await this.#files.write(this.#namespace, path, bytes);
      this.#known.set(path, { hash: contentHash(bytes), stamp: undefined });
    }
    for (const path of remove) await this.#delete(path);
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
      if (!(await this.#isUntouched(tree, path))) return;
      if (!(await tree.restore(path, bytes))) return;
    }
    this.#known.set(path, { hash, stamp });
  }

  /** Whether a tree has a file as it was fetched or kept, or has none where none was. */
  async #isUntouched(tree: ScratchTree, path: string): Promise<boolean> {
    const bytes = await tree.readIfFile(path);
    return (bytes === null ? undefined : contentHash(bytes)) === this.#known.get(path)?.hash;
  }

  async #drop(tree: ScratchTree, path: string): Promise<void> {
    if (await this.#isUntouched(tree, path)) await tree.delete(path);
    this.#known.delete(path);
  }

  async #delete(path: string): Promise<void> {
    await this.#files.delete(this.#namespace, path);
    this.#known.delete(path);
  }
}
