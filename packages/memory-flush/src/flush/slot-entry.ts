import type { JsonObject } from "@holdfast/core";

/** How far a session is flushed, as it is stored. Times in milliseconds. */
export type SlotEntry = {
  /** Everything up to this record of the log is flushed. */
  readonly seq: number;
  /** When the last flush began, whatever came of it. */
  readonly flushedAt: number;
  /** When it was last found that there is nothing to flush. */
  readonly lookedAt: number;
  /** How often in a row it failed. */
  readonly failures: number;
  /** Whether the last flush left something for the next. */
  readonly hasMore?: boolean | undefined;
  /** Who is at it, until when that counts, and for how long they ask at a time. */
  readonly claim?:
    | { readonly token: string; readonly until: number; readonly holdMs?: number | undefined }
    | undefined;
  /** A note about to be appended: found there, everything up to `through` is flushed. */
  readonly pending?:
    | { readonly id: string; readonly path: string; readonly through: number }
    | undefined;
};

/** An entry as a value for a store: an absent field is one that is not there. */
export function entryValue(entry: SlotEntry): JsonObject {
  return JSON.parse(JSON.stringify(entry)) as JsonObject;
}
