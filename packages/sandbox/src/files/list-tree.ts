import type { Stats } from "node:fs";
import { opendir } from "node:fs/promises";
import { StateTooLargeError } from "@holdfast/core";
import { type FileInfo, showPath } from "@holdfast/core/plugin-kit";
import {
  closeDirectoryChain,
  directoryTreePath,
  isTemporaryName,
  MAX_PATH_DEPTH,
  type OpenDirectory,
  openDirectoryChain,
  statEntry,
} from "@holdfast/workspace/filesystem-kit";
import { makeAccessible, unlessGone } from "./permissions.js";

/** Options of {@link listTree}. */
export interface ListTreeOptions {
  /** Most files and directories that are listed. */
  readonly maxFiles: number;
  /**
   * Leaves nothing out: files without read permission are made readable, and a path that is too deep is an error.
   * Otherwise both are left out.
   * @default false
   */
  readonly isComplete?: boolean | undefined;
}

/**
 * Lists every file and directory below `path` of a tree that commands may be changing, in path order. Links, pipes,
 * sockets and names that are not UTF-8 are left out.
 *
 * @throws StateTooLargeError for more than `maxFiles` entries
 */
export async function listTree(
  root: string,
  path: string,
  options: ListTreeOptions,
): Promise<readonly FileInfo[]> {
  const target = directoryTreePath([], path);
  const chain = await openDirectoryChain(target, target.segments, { root });
  if (typeof chain === "string") return [];
  try {
    const found: FileInfo[] = [];
    const listing = new Listing(found, options);
    await listing.below(chain.at(-1) ?? chain[0], target.segments);
    return found.sort((a, b) => (a.path < b.path ? -1 : 1));
  } finally {
    await closeDirectoryChain(chain);
  }
}

class Listing {
  readonly #found: FileInfo[];
  readonly #maxFiles: number;
  readonly #isComplete: boolean;
  #entries = 0;

  constructor(found: FileInfo[], { maxFiles, isComplete = false }: ListTreeOptions) {
    this.#found = found;
    this.#maxFiles = maxFiles;
    this.#isComplete = isComplete;
  }

  async below(directory: OpenDirectory, segments: readonly string[]): Promise<void> {
    for (const name of await this.#names(directory)) {
      const stats = await unlessGone(statEntry(directory, name));
      // Removed meanwhile, or its name is not UTF-8 and was changed by decoding.
      if (stats === null) continue;
      const path = [...segments, name];
      if (this.#isComplete && isUnreadable(stats))
        await unlessGone(makeAccessible(directory.entry(name)));
      if (stats.isFile()) this.#found.push(info(path, "file", stats));
      if (stats.isDirectory()) await this.#enter(directory, name, path, stats);
    }
  }

  /** Reads all names at once, so that a directory is not being read while its children are visited. */
  async #names(directory: OpenDirectory): Promise<string[]> {
    const names: string[] = [];
    for await (const { name } of await opendir(directory.path)) {
      if (++this.#entries > this.#maxFiles) throw tooManyFiles(this.#maxFiles);
      if (!isTemporaryName(name)) names.push(name);
    }
    return names;
  }

  async #enter(
    parent: OpenDirectory,
    name: string,
    path: readonly string[],
    stats: Stats,
  ): Promise<void> {
    if (path.length >= MAX_PATH_DEPTH) {
      if (!this.#isComplete) return;
      throw new StateTooLargeError(
        `${showPath(path.join("/"))} is nested deeper than ${MAX_PATH_DEPTH} directories; move or delete it`,
      );
    }
    const child = await unlessGone(parent.child(name));
    if (child === null) return;
    try {
      this.#found.push(info(path, "directory", stats));
      await this.below(child, path);
    } finally {
      await child.close();
    }
  }
}

/** Makes the error for a tree of more than `maxFiles` files and directories. */
export function tooManyFiles(maxFiles: number): StateTooLargeError {
  return new StateTooLargeError(
    `there are more than ${maxFiles} files and directories in the workspace (maxFiles); delete some`,
  );
}

function isUnreadable(stats: Stats): boolean {
  const needed = stats.isDirectory() ? 0o500 : stats.isFile() ? 0o400 : 0;
  return (stats.mode & needed) !== needed;
}

function info(path: readonly string[], kind: FileInfo["kind"], stats: Stats): FileInfo {
  return {
    path: path.join("/"),
    kind,
    bytes: kind === "file" ? stats.size : 0,
    modifiedAt: stats.mtime.toISOString(),
  };
}
