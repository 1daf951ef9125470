import type { Stats } from "node:fs";
import { opendir } from "node:fs/promises";
import { StateTooLargeError } from "@holdfast/core";
import type { FileInfo } from "@holdfast/core/plugin-kit";
import { hasIoCode } from "../filesystem/io-error.js";
import type { OpenDirectory } from "../filesystem/local/open-directory.js";
import { directoryPlace } from "../filesystem/local/place.js";
import { isTemporaryName } from "../filesystem/local/temporary-name.js";
import { closeAll, statEntry, walk } from "../filesystem/local/walk.js";
import { MAX_DEPTH } from "../filesystem/path-depth.js";
import { showPath } from "../filesystem/refusals.js";
import { makeAccessible } from "./access.js";

/** How far a listing goes. */
export interface ListTreeOptions {
  readonly maxFiles: number;
  /**
   * Whether nothing may be missing: what was made unreadable is made readable, and what lies too deep for a path to name
   * is an error. Otherwise both are left out.
   * @default false
   */
  readonly isComplete?: boolean | undefined;
}

/**
 * Every file and directory below `path` of a tree that commands may be changing, in path order. Links, pipes, sockets and
 * names that are not UTF-8 are left out.
 *
 * @throws StateTooLargeError for more than `maxFiles` entries
 */
export async function listTree(
  root: string,
  path: string,
  options: ListTreeOptions,
): Promise<readonly FileInfo[]> {
  const place = directoryPlace([], path);
  const chain = await walk(place, place.segments, { root });
  if (typeof chain === "string") return [];
  try {
    const found: FileInfo[] = [];
    const listing = new Listing(found, options);
    await listing.below(chain.at(-1) ?? chain[0], place.segments);
    return found.sort((a, b) => (a.path < b.path ? -1 : 1));
  } finally {
    await closeAll(chain);
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
      // Nothing, too, where the name is not UTF-8 and became another on the way.
      if (stats === null) continue;
      const path = [...segments, name];
      if (this.#isComplete && isLocked(stats))
        await unlessGone(makeAccessible(directory.entry(name)));
      if (stats.isFile()) this.#found.push(info(path, "file", stats));
      if (stats.isDirectory()) await this.#enter(directory, name, path, stats);
    }
  }

  /** All at once, because a directory is not held open for reading while its children are looked at. */
  async #names(directory: OpenDirectory): Promise<string[]> {
    const names: string[] = [];
    for await (const { name } of await opendir(directory.path)) {
      if (++this.#entries > this.#maxFiles)
        throw new StateTooLargeError(
          `there are more than ${this.#maxFiles} files and directories in the workspace (maxFiles); delete some`,
        );
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
    if (path.length >= MAX_DEPTH) {
      if (!this.#isComplete) return;
      throw new StateTooLargeError(
        `${showPath(path.join("/"))} is nested deeper than ${MAX_DEPTH} directories; move or delete it`,
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

function isLocked(stats: Stats): boolean {
  const needed = stats.isDirectory() ? 0o500 : stats.isFile() ? 0o400 : 0;
  return (stats.mode & needed) !== needed;
}

/** Null where something is gone, has become something else, or is not for this process to see. */
async function unlessGone<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (hasIoCode(error, "ENOENT", "ENOTDIR", "ELOOP", "EACCES")) return null;
    throw error;
  }
}

function info(path: readonly string[], kind: FileInfo["kind"], stats: Stats): FileInfo {
  return {
    path: path.join("/"),
    kind,
    bytes: kind === "file" ? stats.size : 0,
    modifiedAt: stats.mtime.toISOString(),
  };
}
