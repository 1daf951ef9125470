import { type DistributedStore, type Slot, StateCorruptError } from "@holdfast/core";
import type { LoadedState } from "@holdfast/core/store-kit";
import type { SessionSummary } from "../transfer/session-digest.js";
import { storedSummary } from "../transfer/stored-summary.js";
import type { SessionOutcome } from "./session-outcome.js";

/**
 * Reads a copy back whole and compares it with what was read at the source.
 *
 * @param stored - its state, as it was read back just now
 * @param kind - what it is when it is right
 */
export async function verifyCopy(
  target: DistributedStore,
  slot: Slot,
  stored: LoadedState | null,
  summary: SessionSummary,
  kind: "copied" | "updated" | "present",
): Promise<SessionOutcome> {
  try {
    const found = await storedSummary(target, slot, stored, { records: summary.records });
    if (found.sha256 === summary.sha256) return { kind, slot, summary };
    return { kind: "mismatch", slot, summary, reason: differenceOf(summary, found) };
  } catch (error) {
    if (!StateCorruptError.is(error)) throw error;
    return { kind: "mismatch", slot, summary, reason: error.message };
  }
}

function differenceOf(wanted: SessionSummary, found: SessionSummary): string {
  if (found.revision !== wanted.revision) return "the target has another revision";
  for (const count of ["messages", "records"] as const)
    if (found[count] !== wanted[count])
      return `the source has ${wanted[count]} ${count}, the target ${found[count]}`;
  return `the counts are the same and the hashes are not: ${wanted.sha256.slice(0, 12)} and ${found.sha256.slice(0, 12)}`;
}
