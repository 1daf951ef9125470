import { InvalidInputError } from "@holdfast/core";
import { showPath } from "./refusals.js";

/** Most parts of a path: every directory on the way costs something, a handle or a look into a store. */
export const MAX_DEPTH = 100;

/** @throws InvalidInputError for a path of too many parts */
export function checkDepth(path: string, parts: number): void {
  if (parts <= MAX_DEPTH) return;
  throw new InvalidInputError(
    `path ${showPath(path)} has ${parts} parts; at most ${MAX_DEPTH} are accepted`,
  );
}
