import type { Stats } from "node:fs";
import { lstat, mkdir } from "node:fs/promises";
import { InvalidInputError } from "@holdfast/core";
import { hasIoCode } from "../io-error.js";
import { linkRefusal, notDirectoryRefusal, showPath } from "../refusals.js";
import { DirectoryMovedError, OpenDirectory } from "./open-directory.js";
import { type Place, shownPath } from "./place.js";

const DIRECTORY_MODE = 0o700;

/** Where a walk starts and what it may do on the way. */
export interface WalkOptions {
  readonly root: string;
  /** Make the directories that are missing. */
  readonly make?: boolean | undefined;
  /** See {@link OpenDirectory}. @default what the system can do */
  readonly isAnchored?: boolean | undefined;
}

/** Why a walk did not arrive: something is missing, or a file stands in the way. */
export type DeadEnd = "missing" | "file";

/**
 * The directories from the root to the one `names` leads to, all open, through no link. The caller closes them.
 *
 * @param place - for errors
 * @throws InvalidInputError at a link
 */
export async function walk(
  place: Place,
  names: readonly string[],
  options: WalkOptions,
): Promise<readonly [OpenDirectory, ...OpenDirectory[]] | DeadEnd> {
  const root = await openRoot(options);
  if (root === "missing") return root;
  const chain: [OpenDirectory, ...OpenDirectory[]] = [root];
  let here = root;
  try {
    for (const [index, name] of names.entries()) {
      const next = await step(here, name, shownPath(place, index + 1), options.make ?? false);
      if (typeof next === "string") {
        await closeAll(chain);
        return next;
      }
      chain.push(next);
      here = next;
    }
    return chain;
  } catch (error) {
    await closeAll(chain);
    throw error;
  }
}

/** Closes every directory of a walk. */
export async function closeAll(chain: readonly OpenDirectory[]): Promise<void> {
  await Promise.all(chain.map((directory) => directory.close()));
}

/** What is under a name in a directory, not following links; null for nothing. */
export async function statEntry(directory: OpenDirectory, name: string): Promise<Stats | null> {
  try {
    return await lstat(directory.entry(name));
  } catch (error) {
    if (hasIoCode(error, "ENOENT")) return null;
    throw error;
  }
}

/** The error for a name longer than a file system takes; any other error as it is. */
export function nameError(error: unknown, path: string): unknown {
  if (!hasIoCode(error, "ENAMETOOLONG")) return error;
  return new InvalidInputError(`path ${showPath(path)} holds a name that is too long for a file`, {
    cause: error,
  });
}

async function openRoot({
  root,
  make = false,
  isAnchored,
}: WalkOptions): Promise<OpenDirectory | "missing"> {
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
): Promise<OpenDirectory | DeadEnd> {
  try {
    return await (make ? madeChild(here, name) : here.child(name));
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

async function madeChild(here: OpenDirectory, name: string): Promise<OpenDirectory> {
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
