import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { hasIoCode } from "../io-error.js";
import { specialFileRefusal, tooLarge } from "../refusals.js";
import { fileError } from "./file-error.js";
import type { OpenDirectory } from "./open-directory.js";

/**
 * The bytes of a file in a directory; null when there is none.
 *
 * @param path - for errors
 * @throws InvalidInputError for a link and for what is no file
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

/** Reads on while the file grows, up to the limit. */
async function readToEnd(
  handle: FileHandle,
  expected: number,
  path: string,
  maxFileBytes: number,
): Promise<Uint8Array> {
  // One byte more, to see the end without asking for more room.
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
