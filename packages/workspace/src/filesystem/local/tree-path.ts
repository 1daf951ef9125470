import { InvalidInputError } from "@holdfast/core";
import { checkDirectoryPath, checkFilePath, showPath } from "@holdfast/core/plugin-kit";
import { checkPathDepth } from "../limits.js";
import { isTemporaryName } from "./temporary-name.js";

/** Checked path of a file or directory below the root of a {@link DirectoryTree}. */
export interface TreePath {
  /** Directories from the root to the top of the namespace. */
  readonly top: readonly string[];
  /** Names from the top of the namespace on; errors show only these. */
  readonly segments: readonly string[];
}

/**
 * Checks the path of a file in a namespace.
 *
 * @param top - directories from the root to the top of the namespace
 * @throws InvalidInputError for a path that is not a file's, is too deep or uses a reserved name
 */
export function fileTreePath(top: readonly string[], path: string): TreePath {
  return { top, segments: checkSegments(checkFilePath(path)) };
}

/**
 * Checks the path of a directory in a namespace; `""` is the top of the namespace.
 *
 * @param top - directories from the root to the top of the namespace
 * @throws InvalidInputError for a path that is not a directory's, is too deep or uses a reserved name
 */
export function directoryTreePath(top: readonly string[], path: string): TreePath {
  return { top, segments: checkSegments(checkDirectoryPath(path)) };
}

/** Returns the first `count` names of a path as errors show them: relative to the top of the namespace. */
export function displayPath({ top, segments }: TreePath, count: number): string {
  return count <= top.length ? "." : segments.slice(0, count - top.length).join("/");
}

function checkSegments(path: string): string[] {
  const segments = path === "" ? [] : path.split("/");
  checkPathDepth(path, segments.length);
  if (segments.some(isTemporaryName))
    throw new InvalidInputError(
      `path ${showPath(path)} uses a name that is reserved for temporary files`,
    );
  return segments;
}
