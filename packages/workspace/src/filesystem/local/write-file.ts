import { constants } from "node:fs";
import { rename, unlink } from "node:fs/promises";
import { UnknownOutcomeError } from "@holdfast/core";
import { ioCode, ioReason } from "../io-error.js";
import {
  linkRefusal,
  notFileRefusal,
  showPath,
  specialFileRefusal,
  tooLarge,
} from "../refusals.js";
import { fileError } from "./file-error.js";
import type { OpenDirectory } from "./open-directory.js";
import { temporaryName } from "./temporary-name.js";
import { statEntry } from "./walk.js";

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;

/**
 * Puts a whole file in place of what was there, in one step: readers see the old file or the new one.
 *
 * A file that was there passes its permissions on, so that a script stays executable.
 *
 * @param path - for errors
 * @throws InvalidInputError when the name is a link, a directory or no file
 */
export async function replaceFileIn(
  directory: OpenDirectory,
  name: string,
  path: string,
  bytes: Uint8Array,
): Promise<void> {
  const temporary = temporaryName();
  try {
    const mode = await replaceableMode(directory, name, path);
    const handle = await directory.openFile(temporary, NEW_FILE);
    try {
      await handle.writeFile(bytes);
      if (mode !== null) await handle.chmod(mode);
    } finally {
      await handle.close();
    }
    await directory.confirm();
    await rename(directory.entry(temporary), directory.entry(name));
  } catch (error) {
    await unlink(directory.entry(temporary)).catch(() => undefined);
    throw fileError(error, path);
  }
}

/**
 * Adds to the end of a file, wherever that is at the moment of writing; makes the file where there is none.
 *
 * @throws InvalidInputError when the name is a link, a directory or no file
 * @throws StateTooLargeError when the file would get too large
 * @throws UnknownOutcomeError when part of it may have been written
 */
export async function appendFileIn(
  directory: OpenDirectory,
  name: string,
  path: string,
  bytes: Uint8Array,
  maxFileBytes: number,
): Promise<void> {
  const handle = await directory.openFile(name, APPEND).catch((error: unknown) => {
    throw fileError(error, path);
  });
  try {
    const found = await handle.stat();
    if (!found.isFile()) throw specialFileRefusal(path);
    const size = found.size + bytes.length;
    if (size > maxFileBytes) throw tooLarge(path, size, maxFileBytes);
    // One system call for all of it, so that nothing of another process gets in between.
    for (let at = 0; at < bytes.length; )
      at += (await handle.write(bytes, at, bytes.length - at, null)).bytesWritten;
  } catch (error) {
    throw ioCode(error) === undefined ? error : halfWritten(path, error);
  } finally {
    await handle.close();
  }
}

function halfWritten(path: string, error: unknown): UnknownOutcomeError {
  return new UnknownOutcomeError(
    `could not append all of it to ${showPath(path)} (${ioReason(error)}); part of it may be there: read the file before trying again`,
    { cause: error },
  );
}

/** The permissions of the file that is to be replaced; null when there is none. */
async function replaceableMode(
  directory: OpenDirectory,
  name: string,
  path: string,
): Promise<number | null> {
  const found = await statEntry(directory, name);
  if (found === null) return null;
  if (found.isSymbolicLink()) throw linkRefusal(path);
  if (found.isDirectory()) throw notFileRefusal(path);
  if (!found.isFile()) throw specialFileRefusal(path);
  return found.mode & 0o777;
}
