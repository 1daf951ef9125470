import type { Stats } from "node:fs";
import { lstat, mkdir } from "node:fs/promises";
import { InvalidInputError } from "@holdfast/core";
import { showPath } from "@holdfast/core/plugin-kit";
import { hasIoCode } from "../io-error.js";
import { linkRefusal, notDirectoryRefusal } from "../refusals.js";
import { DirectoryMovedError, OpenDirectory } from "./open-directory.js";
import { displayPath, type TreePath } from "./tree-path.js";

const DIRECTORY_MODE = 0o700;

/** Root of a chain of directories, and what opening it may do. */
export interface DirectoryChainOptions {
  /** Directory that the program chose; links on the way to it are followed. */
  readonly root: string;
  /** Creates the directories that are missing. @default false */
  readonly make?: boolean | undefined;
  /** Looks names up from directory handles, see {@link OpenDirectory}. @default true where the system can (Linux) */
  readonly isAnchored?: boolean | undefined;
}

/** Reason why a directory could not be reached: one is missing, or there is a file in its place. */
export type ChainProblem = "missing" | "file";

/**
 * Opens every directory from the root to the one that `names` leads to, following no link. The caller closes them with
 * {@link closeDirectoryChain}.
 *
 * @param target - for errors
 * @throws InvalidInputError at a link
 */
export async function openDirectoryChain(
  target: TreePath,
  names: readonly string[],
  options: DirectoryChainOptions,
): Promise<readonly [OpenDirectory, ...OpenDirectory[]] | ChainProblem> {
  const root = await openRoot(options);
  if (root === "missing") return root;
  const chain: [OpenDirectory, ...OpenDirectory[]] = [root];
  let here = root;
  try {
    for (const [index, name] of names.entries()) {
      const next = await step(here, name, displayPath(target, index + 1), options.make ?? false);
      if (typeof next === "string") {
        await closeDirectoryChain(chain);
        return next;
      }
      chain.push(next);
      here = next;
    }
    return chain;
  } catch (error) {
    await closeDirectoryChain(chain);
    throw error;
  }
}

/** Closes every directory that {@link openDirectoryChain} opened. */
export async function closeDirectoryChain(chain: readonly OpenDirectory[]): Promise<void> {
  await Promise.all(chain.map((directory) => directory.close()));
}

/** Returns the `lstat` of a name in a directory; null when there is nothing. */
export async function statEntry(directory: OpenDirectory, name: string): Promise<Stats | null> {
  try {
    return await lstat(directory.entry(name));
  } catch (error) {
    if (hasIoCode(error, "ENOENT")) return null;
    throw error;
  }
}

/** Makes an `InvalidInputError` of the system error for an overlong name; any other error is returned as it is. */
export function nameError(error: unknown, path: string): unknown {
  if (!hasIoCode(error, "ENAMETOOLONG")) return error;
  return new InvalidInputError(
    `path ${showPath(path)} contains a name that is too long for a file`,
    {
      cause: error,
    },
  );
}

async function openRoot({
  root,
  make = false,
  isAnchored,
}: DirectoryChainOptions): Promise<OpenDirectory | "missing"> {
  try {
    if (make) await mkdir(root, { recursive: true, mode: DIRECTORY_MODE });
    return await OpenDirectory.open(root, isAnchored);
  } catch (error) {
    if (!make && hasIoCode(error, "ENOENT")) return "missing";
    throw error;
  }
}

async function step(
  here: OpenDirectory,
  name: string,
  path: string,
  make: boolean,
): Promise<OpenDirectory | ChainProblem> {
  try {
    return await (make ? childOrNew(here, name) : here.child(name));
  } catch (error) {
    if (hasIoCode(error, "ENOENT")) return "missing";
    if (error instanceof DirectoryMovedError) throw linkRefusal(path, { cause: error });
    if (!hasIoCode(error, "ENOTDIR", "ELOOP", "EMLINK")) throw nameError(error, path);
    const found = await statEntry(here, name);
    if (found === null) return "missing";
    if (found.isSymbolicLink() || found.isDirectory()) throw linkRefusal(path, { cause: error });
    if (make) throw notDirectoryRefusal(path);
    return "file";
  }
}

async function childOrNew(here: OpenDirectory, name: string): Promise<OpenDirectory> {
  try {
    return await here.child(name);
  } catch (error) {
    if (!hasIoCode(error, "ENOENT")) throw error;
  }
  await here.confirm();
  try {
    await mkdir(here.entry(name), { mode: DIRECTORY_MODE });
  } catch (error) {
    if (!hasIoCode(error, "EEXIST")) throw error;
  }
  return here.child(name);
}
