import { InvalidInputError } from "@holdfast/core";
import { checkDirectoryPath, checkFilePath } from "@holdfast/core/plugin-kit";
import { checkDepth } from "../path-depth.js";
import { showPath } from "../refusals.js";
import { isTemporaryName } from "./temporary-name.js";

/** Something below a root: the directories from the root to the top of a namespace, then the path in it. */
export interface Place {
  readonly top: readonly string[];
  readonly segments: readonly string[];
}

/**
 * The place of a file.
 *
 * @throws InvalidInputError
 */
export function filePlace(top: readonly string[], path: string): Place {
  return { top, segments: checkSegments(checkFilePath(path)) };
}

/**
 * The place of a directory; the top of the namespace for `""`.
 *
 * @throws InvalidInputError
 */
export function directoryPlace(top: readonly string[], path: string): Place {
  return { top, segments: checkSegments(checkDirectoryPath(path)) };
}

/** How errors name the first `count` of a place's names: as seen from its top. */
export function shownPath({ top, segments }: Place, count: number): string {
  return count <= top.length ? "." : segments.slice(0, count - top.length).join("/");
}

function checkSegments(path: string): string[] {
  const segments = path === "" ? [] : path.split("/");
  checkDepth(path, segments.length);
  if (segments.some(isTemporaryName))
    throw new InvalidInputError(
      `path ${showPath(path)} uses a name that is kept for temporary files`,
    );
  return segments;
}
