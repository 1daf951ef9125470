import { InvalidInputError } from "@holdfast/core";
import { checkFilePath } from "@holdfast/core/plugin-kit";
import { SHARED_NAMES } from "../filesystem/local/shared-directory.js";
import { isResultPath, RESULTS_DIRECTORY } from "../offload/result-path.js";
import { foldPath } from "./fold-path.js";

/** Directories of a user that only the agent itself writes: logs and tasks, and what was moved out of a context. */
const agentNames = ["agents", "conversation_history", "data", RESULTS_DIRECTORY] as const;

/**
 * Knows the paths that tools may read but not write.
 *
 * Names are compared as by a file system that folds case or normalises Unicode, where `Skills` is `skills`.
 */
export class ProtectedPaths {
  /** Read-only names as they are shown to a model. */
  readonly names: readonly string[] = [...SHARED_NAMES, ...agentNames];
  readonly #shared = SHARED_NAMES.map(foldPath);
  readonly #all = this.names.map(foldPath);

  /** Returns true for a path that all users share. */
  isShared(path: string): boolean {
    return isBelow(this.#shared, path);
  }

  /** Returns true for a path that is read-only to tools. */
  isProtected(path: string): boolean {
    return isBelow(this.#all, path) || isResultPath(path);
  }

  /**
   * Returns the normalised form of a path that tools may write.
   *
   * @throws InvalidInputError for a read-only path
   */
  checkWritable(path: string): string {
    const plain = checkFilePath(path);
    if (this.isProtected(plain))
      throw new InvalidInputError(
        `${JSON.stringify(path)} is read-only; write to any other path. Read-only are: ${this.names.join(", ")}`,
      );
    return plain;
  }
}

function isBelow(folded: readonly string[], path: string): boolean {
  const name = foldPath(path);
  return folded.some((each) => name === each || name.startsWith(`${each}/`));
}
