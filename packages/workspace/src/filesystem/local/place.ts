import { checkDirectoryPath, checkFilePath, InvalidInputError } from "@holdfast/core";
import { showPath } from "../refusals.js";
import { isTemporaryName } from "./temporary-name.js";

/** Most directories one may stand in another; every one on the way is held open for a moment. */
export const MAX_DEPTH = 100;

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
  if (segments.length > MAX_DEPTH)
    throw new InvalidInputError(
      `path ${showPath(path)} has ${segments.length} parts; at most ${MAX_DEPTH} are accepted`,
    );
  if (segments.some(isTemporaryName))
    throw new InvalidInputError(
      `path ${showPath(path)} uses a name that is kept for temporary files`,
    );
  return segments;
}
