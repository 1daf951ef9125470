import { InvalidInputError } from "@holdfast/core";
import { checkFilePath } from "@holdfast/core/plugin-kit";
import { isResultPath, RESULTS_DIRECTORY } from "../offload/result-path.js";
import { foldPath } from "./fold-path.js";

/** What all users share; the names at the top of the workspace. */
const sharedNames = ["AGENTS.md", "knowledge", "skills", "subagents"] as const;

/** The user's own, but kept by the agent itself: logs and tasks, and what left a context. */
const keptNames = ["agents", "conversation_history", "data", RESULTS_DIRECTORY] as const;

/**
 * Which paths tools may read and not write.
 *
 * Names are compared as a file system might that folds case or normalises Unicode: there `Skills` is `skills`.
 */
export class ProtectedPaths {
  /** As they are shown to a model. */
  readonly names: readonly string[] = [...sharedNames, ...keptNames];
  readonly #shared = sharedNames.map(foldPath);
  readonly #all = this.names.map(foldPath);

  /** Whether a path is among what all users share. */
  isShared(path: string): boolean {
    return isBelow(this.#shared, path);
  }

  /** Whether a path may be read and not written. */
  isProtected(path: string): boolean {
    return isBelow(this.#all, path) || isResultPath(path);
  }

  /**
   * The plain form of a path that may be written.
   *
   * @throws InvalidInputError
   */
  checkWritable(path: string): string {
    const plain = checkFilePath(path);
    if (this.isProtected(plain))
      throw new InvalidInputError(
        `${JSON.stringify(path)} is read-only; write anywhere else, these are kept: ${this.names.join(", ")}`,
      );
    return plain;
  }
}

function isBelow(folded: readonly string[], path: string): boolean {
  const name = foldPath(path);
  return folded.some((each) => name === each || name.startsWith(`${each}/`));
}
