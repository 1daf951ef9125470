import { rmdir, unlink } from "node:fs/promises";
import { StoreUnavailableError } from "@holdfast/core";
import { type FileInfo, showPath } from "@holdfast/core/plugin-kit";
import { hasIoCode, unavailable } from "../io-error.js";
import { checkBytes } from "../limits.js";
import {
  type ChainProblem,
  closeDirectoryChain,
  openDirectoryChain,
  statEntry,
} from "./directory-chain.js";
import { appendFileIn, fileError, readFileIn, replaceFileIn } from "./file-in-directory.js";
import { type ListingOptions, listBelow } from "./list-below.js";
import type { OpenDirectory } from "./open-directory.js";
import { displayPath, type TreePath } from "./tree-path.js";

/** Options of a {@link DirectoryTree}. */
export interface DirectoryTreeOptions {
  /** Directory that holds the files; absolute. */
  readonly root: string;
  /** Largest file that is read or written. */
  readonly maxFileBytes: number;
  /** Looks names up from directory handles, see {@link OpenDirectory}. @default true where the system can (Linux) */
  readonly isAnchored?: boolean | undefined;
}

/** Attempts of a write whose directory keeps being removed by others. */
const MOST_ATTEMPTS = 100;

/**
 * Files below a directory. No operation follows a link: neither one that was there before nor one that another process
 * puts in place of a directory while the operation is under way.
 */
export class DirectoryTree {
  readonly #options: DirectoryTreeOptions;

  constructor(options: DirectoryTreeOptions) {
    this.#options = options;
  }

  /** Reads a file; null when there is none. */
  async read(target: TreePath): Promise<Uint8Array | null> {
    return this.#attempt("read", target, () =>
      this.#inParent(target, { make: false, otherwise: null }, ({ directory, name, path }) =>
        readFileIn(directory, name, path, this.#options.maxFileBytes),
      ),
    );
  }

  /** Replaces a file atomically, and creates the directories it needs. */
  async write(target: TreePath, bytes: Uint8Array): Promise<void> {
    checkBytes(target.segments.join("/"), bytes, this.#options.maxFileBytes);
    const copy = new Uint8Array(bytes);
    await this.#change("write", target, ({ directory, name, path }) =>
      replaceFileIn(directory, name, path, copy),
    );
  }

  /** Appends to a file, and creates it and the directories it needs. */
  async append(target: TreePath, bytes: Uint8Array): Promise<void> {
    checkBytes(target.segments.join("/"), bytes, this.#options.maxFileBytes);
    const copy = new Uint8Array(bytes);
    await this.#change("append to", target, ({ directory, name, path }) =>
      appendFileIn(directory, name, path, copy, this.#options.maxFileBytes),
    );
  }

  /** Removes a file, or a link itself, and the directories that this leaves empty, up to the top of its namespace. */
  async delete(target: TreePath): Promise<boolean> {
    return this.#attempt("delete", target, () =>
      this.#inParent(target, { make: false, otherwise: false }, async (parent) => {
        if (!(await removeName(parent))) return false;
        await removeEmpty(parent.chain, [...target.top, ...target.segments], target.top.length);
        return true;
      }),
    );
  }

  /** Lists everything below a directory, in path order. */
  async list(target: TreePath, options: ListingOptions = {}): Promise<FileInfo[]> {
    const found: FileInfo[] = [];
    await this.enter("list", target, { make: false, otherwise: undefined }, (directory) =>
      listBelow(directory, target.segments.join("/"), found, options),
    );
    return found.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Returns true when the directory exists. */
  async has(target: TreePath): Promise<boolean> {
    return this.enter("enter", target, { make: false, otherwise: false }, async () => true);
  }

  /** Creates a directory and its missing parents. */
  async make(target: TreePath): Promise<void> {
    await this.enter("make", target, { make: true, otherwise: undefined }, async () => undefined);
  }

  /**
   * Calls `visit` with an open directory; returns `otherwise` when there is no such directory.
   *
   * @param verb - what is attempted, for errors
   */
  async enter<T>(
    verb: string,
    target: TreePath,
    { make, otherwise }: { readonly make: boolean; readonly otherwise: T },
    visit: (directory: OpenDirectory) => Promise<T>,
  ): Promise<T> {
    return this.#attempt(verb, target, async () => {
      const chain = await this.#openChain(target, [...target.top, ...target.segments], make);
      if (typeof chain === "string") return otherwise;
      try {
        return await visit(chain.at(-1) ?? chain[0]);
      } finally {
        await closeDirectoryChain(chain);
      }
    });
  }

  async #inParent<T>(
    target: TreePath,
    { make, otherwise }: { readonly make: boolean; readonly otherwise: T },
    visit: (parent: Parent) => Promise<T>,
  ): Promise<T> {
    const names = [...target.top, ...target.segments];
    const chain = await this.#openChain(target, names.slice(0, -1), make);
    if (typeof chain === "string") return otherwise;
    const path = displayPath(target, names.length);
    try {
      const directory = chain.at(-1) ?? chain[0];
      return await visit({ chain, directory, name: names.at(-1) ?? ".", path });
    } finally {
      await closeDirectoryChain(chain);
    }
  }

  async #change(
    verb: string,
    target: TreePath,
    change: (parent: Parent) => Promise<void>,
  ): Promise<void> {
    await this.#attempt(verb, target, async () => {
      for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        try {
          const made = { make: true, otherwise: "vanished" };
          const outcome = await this.#inParent(target, made, async (parent) => {
            await change(parent);
            return "done";
          });
          if (outcome === "done") return;
        } catch (error) {
          if (!hasIoCode(error, "ENOENT")) throw error;
        }
      }
      throw new StoreUnavailableError(
        `cannot ${verb} ${showPath(target.segments.join("/"))}: its directory kept being removed; nothing was changed, try again`,
      );
    });
  }

  #openChain(
    target: TreePath,
    names: readonly string[],
    make: boolean,
  ): Promise<readonly [OpenDirectory, ...OpenDirectory[]] | ChainProblem> {
    const { root, isAnchored } = this.#options;
    return openDirectoryChain(target, names, { root, isAnchored, make });
  }

  async #attempt<T>(verb: string, { segments }: TreePath, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      throw unavailable(`${verb} ${showPath(segments.join("/"))}`, error);
    }
  }
}

interface Parent {
  /** Open directories from the root to `directory`. */
  readonly chain: readonly OpenDirectory[];
  readonly directory: OpenDirectory;
  readonly name: string;
  /** For errors. */
  readonly path: string;
}

async function removeName({ directory, name, path }: Parent): Promise<boolean> {
  try {
    await directory.confirm();
    await unlink(directory.entry(name));
    return true;
  } catch (error) {
    // The name of a directory: Linux answers EISDIR, others EPERM, which has other meanings too.
    if (hasIoCode(error, "ENOENT", "EISDIR")) return false;
    if (hasIoCode(error, "EPERM") && (await statEntry(directory, name))?.isDirectory())
      return false;
    throw fileError(error, path);
  }
}

/** Removes empty directories from the innermost up to `names[keep - 1]`; `chain[n]` contains `names[n]`. */
async function removeEmpty(
  chain: readonly OpenDirectory[],
  names: readonly string[],
  keep: number,
): Promise<void> {
  for (let at = names.length - 2; at >= keep - 1; at--) {
    const parent = chain[at];
    const name = names[at];
    if (parent === undefined || name === undefined) return;
    try {
      await parent.confirm();
      await rmdir(parent.entry(name));
    } catch {
      // Not empty, or already removed by another process.
      return;
    }
  }
}
