import { rmdir, unlink } from "node:fs/promises";
import { StoreUnavailableError } from "@holdfast/core";
import type { FileInfo } from "@holdfast/core/plugin-kit";
import { hasIoCode, unavailable } from "../io-error.js";
import { checkBytes, showPath } from "../refusals.js";
import { fileError } from "./file-error.js";
import { listBelow } from "./list-below.js";
import type { OpenDirectory } from "./open-directory.js";
import { type Place, shownPath } from "./place.js";
import { readFileIn } from "./read-file.js";
import { closeAll, type DeadEnd, statEntry, walk } from "./walk.js";
import { appendFileIn, replaceFileIn } from "./write-file.js";

/** What a {@link DirectoryTree} is made of. */
export interface DirectoryTreeOptions {
  readonly root: string;
  readonly maxFileBytes: number;
  /** Whether names are looked up from directory handles. @default where the system can (Linux) */
  readonly isAnchored?: boolean | undefined;
}

/** How often a write starts again because somebody removed the directory it was about to write to. */
const MOST_ATTEMPTS = 100;

/**
 * The files below a directory, reached through no link: not one that was there before, and not one that somebody puts
 * in place of a directory while an operation is under way.
 */
export class DirectoryTree {
  readonly #options: DirectoryTreeOptions;

  constructor(options: DirectoryTreeOptions) {
    this.#options = options;
  }

  /** The bytes of a file; null when there is none. */
  async read(place: Place): Promise<Uint8Array | null> {
    return this.#attempt("read", place, () =>
      this.#inParent(place, { make: false, otherwise: null }, ({ directory, name, path }) =>
        readFileIn(directory, name, path, this.#options.maxFileBytes),
      ),
    );
  }

  /** Replaces a file in one step, with the directories it needs. */
  async write(place: Place, bytes: Uint8Array): Promise<void> {
    checkBytes(place.segments.join("/"), bytes, this.#options.maxFileBytes);
    const copy = new Uint8Array(bytes);
    await this.#change("write", place, ({ directory, name, path }) =>
      replaceFileIn(directory, name, path, copy),
    );
  }

  /** Adds to the end of a file, or begins it, with the directories it needs. */
  async append(place: Place, bytes: Uint8Array): Promise<void> {
    checkBytes(place.segments.join("/"), bytes, this.#options.maxFileBytes);
    const copy = new Uint8Array(bytes);
    await this.#change("append to", place, ({ directory, name, path }) =>
      appendFileIn(directory, name, path, copy, this.#options.maxFileBytes),
    );
  }

  /** Removes a file, a link itself included, and the directories that are empty then, up to the top of its namespace. */
  async delete(place: Place): Promise<boolean> {
    return this.#attempt("delete", place, () =>
      this.#inParent(place, { make: false, otherwise: false }, async (parent) => {
        if (!(await removeName(parent))) return false;
        await removeEmpty(parent.chain, [...place.top, ...place.segments], place.top.length);
        return true;
      }),
    );
  }

  /** Everything below a directory, in path order. */
  async list(place: Place): Promise<FileInfo[]> {
    const found: FileInfo[] = [];
    await this.enter("list", place, { make: false, otherwise: undefined }, (directory) =>
      listBelow(directory, place.segments.join("/"), found),
    );
    return found.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Whether a directory is there. */
  async has(place: Place): Promise<boolean> {
    return this.enter("enter", place, { make: false, otherwise: false }, async () => true);
  }

  /** Makes a directory and those above it that are missing. */
  async make(place: Place): Promise<void> {
    await this.enter("make", place, { make: true, otherwise: undefined }, async () => undefined);
  }

  /**
   * Does something in a directory while it is open; `otherwise` when it is not there.
   *
   * @param verb - what it is, for errors
   */
  async enter<T>(
    verb: string,
    place: Place,
    { make, otherwise }: { readonly make: boolean; readonly otherwise: T },
    visit: (directory: OpenDirectory) => Promise<T>,
  ): Promise<T> {
    return this.#attempt(verb, place, async () => {
      const chain = await this.#walk(place, [...place.top, ...place.segments], make);
      if (typeof chain === "string") return otherwise;
      try {
        return await visit(chain.at(-1) ?? chain[0]);
      } finally {
        await closeAll(chain);
      }
    });
  }

  async #inParent<T>(
    place: Place,
    { make, otherwise }: { readonly make: boolean; readonly otherwise: T },
    visit: (parent: Parent) => Promise<T>,
  ): Promise<T> {
    const names = [...place.top, ...place.segments];
    const chain = await this.#walk(place, names.slice(0, -1), make);
    if (typeof chain === "string") return otherwise;
    const path = shownPath(place, names.length);
    try {
      const directory = chain.at(-1) ?? chain[0];
      return await visit({ chain, directory, name: names.at(-1) ?? ".", path });
    } finally {
      await closeAll(chain);
    }
  }

  async #change(
    verb: string,
    place: Place,
    change: (parent: Parent) => Promise<void>,
  ): Promise<void> {
    await this.#attempt(verb, place, async () => {
      for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        try {
          const made = { make: true, otherwise: "vanished" };
          const outcome = await this.#inParent(place, made, async (parent) => {
            await change(parent);
            return "done";
          });
          if (outcome === "done") return;
        } catch (error) {
          if (!hasIoCode(error, "ENOENT")) throw error;
        }
      }
      throw new StoreUnavailableError(
        `cannot ${verb} ${showPath(place.segments.join("/"))}: its directory was removed again and again; nothing was changed, try again`,
      );
    });
  }

  #walk(
    place: Place,
    names: readonly string[],
    make: boolean,
  ): Promise<readonly [OpenDirectory, ...OpenDirectory[]] | DeadEnd> {
    const { root, isAnchored } = this.#options;
    return walk(place, names, { root, isAnchored, make });
  }

  async #attempt<T>(verb: string, { segments }: Place, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      throw unavailable(`${verb} ${showPath(segments.join("/"))}`, error);
    }
  }
}

interface Parent {
  /** From the root to the directory. */
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
    // A directory is no file to delete. Linux says EISDIR; others EPERM, which can mean more than that.
    if (hasIoCode(error, "ENOENT", "EISDIR")) return false;
    if (hasIoCode(error, "EPERM") && (await statEntry(directory, name))?.isDirectory())
      return false;
    throw fileError(error, path);
  }
}

/** Removes the directories `names[keep - 1]` and below that are empty; `chain[n]` is the one that holds `names[n]`. */
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
      // Not empty, or somebody else was here first: it stays as it is.
      return;
    }
  }
}
