import { InvalidInputError } from "../errors/errors.js";
import { isWellFormed } from "../json/json.js";
import { cutText } from "./cut-text.js";

/**
 * Returns the normal form of a workspace file path: segments joined by `/`, without empty ones and `.`.
 *
 * @throws InvalidInputError for an absolute path, `..`, NUL, a lone surrogate, and a path that names no file
 */
export function checkFilePath(path: string): string {
  const plain = checkDirectoryPath(path);
  if (plain === "" || path.endsWith("/")) throw refusal(path, "names no file");
  return plain;
}

/**
 * Returns the normal form of a workspace directory path: as {@link checkFilePath}, but `""` and `.` name the root of the
 * namespace, and a trailing `/` is allowed.
 *
 * @throws InvalidInputError
 */
export function checkDirectoryPath(path: string): string {
  if (typeof path !== "string") throw new InvalidInputError("a path must be a string");
  if (path.startsWith("/")) throw refusal(path, "is absolute; paths are relative to the workspace");
  if (path.includes("\0")) throw refusal(path, "holds a NUL character");
  if (!isWellFormed(path)) throw refusal(path, "holds a lone surrogate");
  const segments = path.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.includes("..")) throw refusal(path, 'holds ".."; paths cannot leave the workspace');
  return segments.join("/");
}

/** Quotes a path for an error message, shortened when it is very long. */
export function showPath(path: string): string {
  return JSON.stringify(cutText(path, 128));
}

function refusal(path: string, problem: string): InvalidInputError {
  return new InvalidInputError(`path ${showPath(path)} ${problem}`);
}
