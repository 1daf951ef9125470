import { StateCorruptError, StateTooNewError } from "@holdfast/core";
import type { DocumentIds } from "./record.js";

/** Where a document lives and what to call it. */
export interface Place {
  /** The document's own directory. */
  readonly directory: string;
  /** The directories above it that the store makes, nearest first; the last one is the store's root. */
  readonly parents: readonly string[];
  readonly ids: DocumentIds;
  /** For messages: `the state of session "s" of user "u", agent "a"`. */
  readonly label: string;
}

/** The error for contents that cannot be what was saved. */
export function corrupt(place: Place, problem: string): StateCorruptError {
  return new StateCorruptError(
    `${place.label} is damaged: ${problem}; the files are left as they are: restore them from a backup, or delete it`,
  );
}

/** The error for contents of a form that only a newer release knows. */
export function tooNew(place: Place): StateTooNewError {
  return new StateTooNewError(
    `${place.label} was written by a newer release, which this one must not touch: upgrade @holdfast/store-json`,
  );
}

/** Whether these are the ids of the place. */
export function isOf(place: Place, ids: DocumentIds): boolean {
  return ids.length === place.ids.length && ids.every((id, index) => id === place.ids[index]);
}
