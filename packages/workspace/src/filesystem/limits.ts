import { types } from "node:util";
import { InvalidInputError, StateTooLargeError } from "@holdfast/core";
import { showPath } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";

/** Most names in a path: each directory on the way costs an open handle or a lookup in a store. */
export const MAX_PATH_DEPTH = 100;

/** Size limit of a file by default: 64 MB. Whole files pass through memory. */
export const DEFAULT_MAX_FILE_BYTES = 67_108_864;

/** Most files of all users that a filesystem keeps in memory for `readCached`, least recently read first out. */
export const MAX_CACHED_FILES = 500;
/** Size above which a file is not kept in memory: a prompt has no room for more. */
export const MAX_CACHED_BYTES = 65_536;

/** Schema of the option `maxFileBytes` of every filesystem: at most 1 GB, because whole files pass through memory. */
export const maxFileBytesSchema: s.Schema<number> = s
  .int()
  .min(1)
  .max(1_073_741_824)
  .default(DEFAULT_MAX_FILE_BYTES);

/** @throws InvalidInputError for a path of more than {@link MAX_PATH_DEPTH} names */
export function checkPathDepth(path: string, depth: number): void {
  if (depth <= MAX_PATH_DEPTH) return;
  throw new InvalidInputError(
    `path ${showPath(path)} has ${depth} parts; at most ${MAX_PATH_DEPTH} are accepted`,
  );
}

/**
 * Checks that the content for a file is a `Uint8Array` within the size limit.
 *
 * @throws InvalidInputError for anything that is not a `Uint8Array`
 * @throws StateTooLargeError for more than `maxFileBytes`
 */
export function checkBytes(path: string, bytes: Uint8Array, maxFileBytes: number): void {
  if (!types.isUint8Array(bytes))
    throw new InvalidInputError(`the content for ${showPath(path)} must be a Uint8Array`);
  if (bytes.length > maxFileBytes) throw tooLarge(path, bytes.length, maxFileBytes);
}

/** Makes the error for a file over the size limit. */
export function tooLarge(path: string, bytes: number, maxFileBytes: number): StateTooLargeError {
  return new StateTooLargeError(
    `the file ${showPath(path)} has or would have ${bytes} bytes; at most ${maxFileBytes} are accepted (maxFileBytes), split it or read it with a command`,
  );
}
