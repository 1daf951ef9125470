import { hasIoCode } from "../io-error.js";
import { linkRefusal, notFileRefusal, specialFileRefusal } from "../refusals.js";
import { DirectoryMovedError } from "./open-directory.js";
import { nameError } from "./walk.js";

/** The error for a file that could not be opened, made or replaced, as a caller should see it. */
export function fileError(error: unknown, path: string): unknown {
  if (error instanceof DirectoryMovedError || hasIoCode(error, "ELOOP", "EMLINK"))
    return linkRefusal(path, { cause: error });
  if (hasIoCode(error, "EISDIR", "ENOTEMPTY", "EEXIST")) return notFileRefusal(path);
  // What a socket, or a pipe that nobody reads, answers to being opened.
  if (hasIoCode(error, "ENXIO", "EOPNOTSUPP", "ENODEV")) return specialFileRefusal(path);
  return nameError(error, path);
}
