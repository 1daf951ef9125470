import { constants } from "node:fs";
import { type FileHandle, rename, unlink } from "node:fs/promises";
import { UnknownOutcomeError } from "@holdfast/core";
import { showPath } from "@holdfast/core/plugin-kit";
import { hasIoCode, ioCode, ioReason } from "../io-error.js";
import { tooLarge } from "../limits.js";
import { linkRefusal, notFileRefusal, specialFileRefusal } from "../refusals.js";
import { nameError, statEntry } from "./directory-chain.js";
import { DirectoryMovedError, type OpenDirectory } from "./open-directory.js";
import { temporaryName } from "./temporary-name.js";

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;

/**
 * Reads a file in an open directory; null when there is none.
 *
 * @param path - for errors
 * @throws InvalidInputError for a link, a pipe, a device or a socket
 * @throws StateTooLargeError before anything is read
 */
export async function readFileIn(
  directory: OpenDirectory,
  name: string,
  path: string,
  maxFileBytes: number,
): Promise<Uint8Array | null> {
  let handle: FileHandle;
  try {
    handle = await directory.openFile(name, constants.O_RDONLY);
  } catch (error) {
    if (hasIoCode(error, "ENOENT")) return null;
    throw fileError(error, path);
  }
  try {
    const found = await handle.stat();
    if (found.isDirectory()) return null;
    if (!found.isFile()) throw specialFileRefusal(path);
    if (found.size > maxFileBytes) throw tooLarge(path, found.size, maxFileBytes);
    return await readToEnd(handle, found.size, path, maxFileBytes);
  } finally {
    await handle.close();
  }
}

/**
 * Replaces a file atomically: readers see the old file or the new one. The new file keeps the old one's permissions, so
 * that a script stays executable.
 *
 * @param path - for errors
 * @throws InvalidInputError when there is a link, a directory or a special file under the name
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
 * Appends to a file, at the end it has at the moment of writing; creates the file when there is none.
 *
 * @param path - for errors
 * @throws InvalidInputError when there is a link, a directory or a special file under the name
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
    throw ioCode(error) === undefined ? error : partlyAppended(path, error);
  } finally {
    await handle.close();
  }
}

/** Translates the system error of opening, creating, replacing or removing a file into the one a caller sees. */
export function fileError(error: unknown, path: string): unknown {
  if (error instanceof DirectoryMovedError || hasIoCode(error, "ELOOP", "EMLINK"))
    return linkRefusal(path, { cause: error });
  if (hasIoCode(error, "EISDIR", "ENOTEMPTY", "EEXIST")) return notFileRefusal(path);
  // From opening a socket, or a pipe without a reader.
  if (hasIoCode(error, "ENXIO", "EOPNOTSUPP", "ENODEV")) return specialFileRefusal(path);
  return nameError(error, path);
}

/** Reads on while the file grows, up to the limit. */
async function readToEnd(
  handle: FileHandle,
  expected: number,
  path: string,
  maxFileBytes: number,
): Promise<Uint8Array> {
  // One byte more, so that the end of the file is seen without growing the buffer.
  let bytes = new Uint8Array(expected + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length, null);
    if (bytesRead === 0) return bytes.subarray(0, length);
    length += bytesRead;
    if (length > maxFileBytes) throw tooLarge(path, length, maxFileBytes);
    if (length < bytes.length) continue;
    const grown = new Uint8Array(Math.min(bytes.length * 2, maxFileBytes + 1));
    grown.set(bytes);
    bytes = grown;
  }
}

function partlyAppended(path: string, error: unknown): UnknownOutcomeError {
  return new UnknownOutcomeError(
    `could not append all of it to ${showPath(path)} (${ioReason(error)}); part of it may be there: read the file before trying again`,
    { cause: error },
  );
}

/** Returns the permissions of the file to be replaced; null when there is none. */
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
