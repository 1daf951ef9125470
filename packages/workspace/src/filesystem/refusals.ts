import { types } from "node:util";
import { InvalidInputError, StateTooLargeError } from "@holdfast/core";

/** How errors name a path: as it was given, cut when it is very long. */
export function showPath(path: string): string {
  return JSON.stringify(path.length > 128 ? `${path.slice(0, 128)}…` : path);
}

/** A link stands on the way, or something is being moved. */
export function linkRefusal(path: string, options?: ErrorOptions): InvalidInputError {
  return new InvalidInputError(
    `${showPath(path)} is or was a symbolic link; links are not followed, use the path it points to if that is in the workspace`,
    options,
  );
}

/** A pipe, a device or a socket. */
export function specialFileRefusal(path: string): InvalidInputError {
  return new InvalidInputError(`${showPath(path)} is neither a file nor a directory`);
}

/** A file stands where a directory is needed. */
export function notDirectoryRefusal(path: string): InvalidInputError {
  return new InvalidInputError(`${showPath(path)} is a file, not a directory`);
}

/** A directory stands where a file is needed. */
export function notFileRefusal(path: string): InvalidInputError {
  return new InvalidInputError(`${showPath(path)} is a directory, not a file`);
}

/** More bytes than a filesystem takes in one file. */
export function tooLarge(path: string, bytes: number, maxFileBytes: number): StateTooLargeError {
  return new StateTooLargeError(
    `the file ${showPath(path)} has or would have ${bytes} bytes; at most ${maxFileBytes} are accepted (maxFileBytes), split it or read it with a command`,
  );
}

/** Checks that what is to be written are bytes, and not too many. */
export function checkBytes(path: string, bytes: Uint8Array, maxFileBytes: number): void {
  if (!types.isUint8Array(bytes))
    throw new InvalidInputError(`what is written to ${showPath(path)} must be a Uint8Array`);
  if (bytes.length > maxFileBytes) throw tooLarge(path, bytes.length, maxFileBytes);
}
