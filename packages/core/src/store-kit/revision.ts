import type { Revision } from "../ports/agent-state-store.js";
import { randomHex } from "../slot/uuid.js";

/** Returns the revision that follows `previous` (`null` for the first save of a slot). */
export function nextRevision(previous: Revision | null): Revision {
  return `${previous === null ? 1 : revisionSeq(previous) + 1}.${randomHex(16)}`;
}

/** Returns the number in a revision; for reports, never for decisions. */
export function revisionSeq(revision: Revision): number {
  const seq = Number.parseInt(revision, 10);
  return Number.isSafeInteger(seq) ? seq : 0;
}

/**
 * Tells that a store lost acknowledged saves: it holds an older revision than this process saw saved, or a different one
 * with the same number.
 */
export function isRolledBack(known: Revision, stored: Revision): boolean {
  return known !== stored && revisionSeq(stored) <= revisionSeq(known);
}

/** Number of a slot's latest saves whose `op` a store remembers, to recognise a repeated save. */
export const REMEMBERED_OPS = 16;

/** Latest saves of a slot and the revision each produced, oldest first. */
export type OpLedger = readonly (readonly [op: string, revision: Revision])[];

/** Returns the revision that `op` produced, or `undefined` when the ledger does not have it. */
export function revisionOfOp(ledger: OpLedger, op: string): Revision | undefined {
  return ledger.find(([remembered]) => remembered === op)?.[1];
}

/** Returns the ledger with one more save, cut to the latest {@link REMEMBERED_OPS}. */
export function withOp(ledger: OpLedger, op: string, revision: Revision): OpLedger {
  return [...ledger, [op, revision] as const].slice(-REMEMBERED_OPS);
}
