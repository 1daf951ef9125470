import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { CreateError, exitCodes } from "./create-error.js";

/** Names of a directory's contents that an error lists. */
const SHOWN_NAMES = 5;

/** Refuses a directory that holds anything but `.git`. @throws CreateError (3) */
export function checkTarget(directory: string): void {
  const target = resolve(directory);
  const names = namesIn(target).filter((name) => name !== ".git");
  if (names.length === 0) return;
  const more = names.length > SHOWN_NAMES ? ` and ${names.length - SHOWN_NAMES} more` : "";
  throw new CreateError(
    exitCodes.directory,
    `${target} is not empty: it has ${names.slice(0, SHOWN_NAMES).join(", ")}${more}. Choose another directory, or empty it.`,
  );
}

/** Returns what a directory holds; nothing when it is not there. @throws CreateError (3) */
function namesIn(target: string): string[] {
  try {
    const found = statSync(target, { throwIfNoEntry: false });
    if (found === undefined) return [];
    if (found.isDirectory()) return readdirSync(target);
  } catch (error) {
    throw unusable(target, error);
  }
  throw new CreateError(exitCodes.directory, `${target} is a file. Choose another directory.`);
}

function unusable(target: string, error: unknown): CreateError {
  const reason = error instanceof Error ? error.message : String(error);
  return new CreateError(exitCodes.directory, `${target} cannot be used: ${reason}`, {
    cause: error,
  });
}

/**
 * Writes files into a directory, all or none: they are written beside it under another name, and renamed once they are
 * complete.
 *
 * @throws CreateError (3) when the directory cannot be used
 */
export async function writeProject(
  directory: string,
  files: Iterable<readonly [path: string, text: string]>,
  signal?: AbortSignal,
): Promise<void> {
  const target = resolve(directory);
  checkTarget(target);
  const exists = statSync(target, { throwIfNoEntry: false }) !== undefined;
  const made = exists ? undefined : makeParents(target);
  const draft = join(exists ? target : dirname(target), `.create-holdfast-${randomUUID()}`);
  try {
    for (const [path, text] of files) {
      signal?.throwIfAborted();
      const file = join(draft, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    signal?.throwIfAborted();
    if (exists) moveInto(draft, target);
    else renameSync(draft, target);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (made !== undefined) rmSync(made, { recursive: true, force: true });
    if (signal?.aborted || error instanceof CreateError) throw error;
    throw unusable(target, error);
  }
}

/** Makes the directories above one; returns the topmost that was not there. */
function makeParents(target: string): string | undefined {
  try {
    return mkdirSync(dirname(target), { recursive: true });
  } catch (error) {
    throw unusable(target, error);
  }
}

/** Moves what a draft holds into the directory around it, without giving way to a signal in between. */
function moveInto(draft: string, target: string): void {
  const moved: string[] = [];
  try {
    for (const name of readdirSync(draft)) {
      renameSync(join(draft, name), join(target, name));
      moved.push(name);
    }
    rmSync(draft, { recursive: true });
  } catch (error) {
    for (const name of moved) rmSync(join(target, name), { recursive: true, force: true });
    throw error;
  }
}
