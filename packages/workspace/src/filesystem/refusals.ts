import { InvalidInputError } from "@holdfast/core";
import { showPath } from "@holdfast/core/plugin-kit";

/** Makes the error for a path that goes through a symbolic link, or through a directory that is being moved. */
export function linkRefusal(path: string, options?: ErrorOptions): InvalidInputError {
  return new InvalidInputError(
    `${showPath(path)} is or was a symbolic link; links are not followed, use the path it points to if that is in the workspace`,
    options,
  );
}

/** Makes the error for a pipe, a device or a socket. */
export function specialFileRefusal(path: string): InvalidInputError {
  return new InvalidInputError(`${showPath(path)} is neither a file nor a directory`);
}

/** Makes the error for a file where a directory is needed. */
export function notDirectoryRefusal(path: string): InvalidInputError {
  return new InvalidInputError(`${showPath(path)} is a file, not a directory`);
}

/** Makes the error for a directory where a file is needed. */
export function notFileRefusal(path: string): InvalidInputError {
  return new InvalidInputError(`${showPath(path)} is a directory, not a file`);
}
