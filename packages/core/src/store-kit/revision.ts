import type { Revision } from "../ports/agent-state-store.js";
import { randomFromPool } from "../slot/random-pool.js";

/** How many `op`s of a slot a store remembers. */
export const REMEMBERED_OPS = 16;

/** The revision that follows `previous` (`null` for the first save of a slot). */
export function nextRevision(previous: Revision | null): Revision {
  return `${previous === null ? 1 : revisionSeq(previous) + 1}.${randomFromPool(16).toString("hex")}`;
}

/** The number in a revision; for reports, never for deciding. */
export function revisionSeq(revision: Revision): number {
  const seq = Number.parseInt(revision, 10);
  return Number.isSafeInteger(seq) ? seq : 0;
}

/**
 * Whether the store lost acknowledged saves: what it holds is older than what this process saw saved, or another history
 * reached the same number.
 */
export function isRolledBack(known: Revision, stored: Revision): boolean {
  return known !== stored && revisionSeq(stored) <= revisionSeq(known);
}
