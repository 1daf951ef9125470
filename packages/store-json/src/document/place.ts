import { StateCorruptError, StateTooNewError } from "@holdfast/core";
import type { DocumentIds } from "./record.js";

/** Location of a document, and its name in messages. */
export interface Place {
  /** The document's own directory. */
  readonly directory: string;
  /** The directories above it that the store creates, nearest first; the last one is the store's root. */
  readonly parents: readonly string[];
  readonly ids: DocumentIds;
  /** For messages: `the state of session "s" of user "u", agent "a"`. */
  readonly label: string;
}

/** Returns the error for damaged contents. */
export function corrupt(place: Place, problem: string): StateCorruptError {
  return new StateCorruptError(
    `${place.label} is damaged: ${problem}; the files are left as they are: restore them from a backup, or delete it`,
  );
}

/** Returns the error for a format that only a newer release knows. */
export function tooNew(place: Place): StateTooNewError {
  return new StateTooNewError(
    `${place.label} was written by a newer release and cannot be read by this one: upgrade @holdfast/store-json`,
  );
}

/** Tells whether these are the ids of the place. */
export function isOf(place: Place, ids: DocumentIds): boolean {
  return ids.length === place.ids.length && ids.every((id, index) => id === place.ids[index]);
}
