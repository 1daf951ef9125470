import { InvalidInputError } from "@holdfast/core";
import { checkFilePath } from "@holdfast/core/plugin-kit";
import { MEMORY_FILE, NOTES_DIRECTORY } from "../files/memory-files.js";

/** Nothing that a filesystem of another system takes for a separator, a drive or a stream. */
const PLAIN_NAME = /^[^\\:\p{Cc}]+$/u;

/**
 * The plain form of a path that names a file of the memory.
 *
 * @throws InvalidInputError for any other path
 */
export function checkMemoryPath(path: string): string {
  const plain = checkFilePath(path);
  const isMemory = plain === MEMORY_FILE || plain.startsWith(`${NOTES_DIRECTORY}/`);
  if (isMemory && PLAIN_NAME.test(plain)) return plain;
  const shown = path.length > 128 ? `${path.slice(0, 128)}…` : path;
  throw new InvalidInputError(
    `path ${JSON.stringify(shown)} is not in the memory; only ${MEMORY_FILE} and files below ${NOTES_DIRECTORY}/ are, spelled exactly so, for example ${NOTES_DIRECTORY}/2026-01-31.md`,
  );
}
