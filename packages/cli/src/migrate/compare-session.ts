import { type DistributedStore, type Slot, StateCorruptError } from "@holdfast/core";
import { type LoadedState, loadWhole } from "@holdfast/core/store-kit";
import { alignLog } from "../transfer/align-log.js";
import { recordsOf } from "../transfer/log-records.js";
import { isSameState, SessionDigest } from "../transfer/session-digest.js";
import { sessionVerdict } from "../transfer/session-verdict.js";
import { stateRelation } from "../transfer/state-copy.js";
import { BlobCheck } from "../transfer/stored-summary.js";
import type { StorePair } from "./open-pair.js";
import { refusedOutcome, type SessionOutcome } from "./session-outcome.js";

/**
 * Compares a session of two stores without writing.
 *
 * @param loaded - the states, if they were just loaded
 * @returns `present` only when everything was read back from the target and is equal
 */
export async function compareSession(
  pair: StorePair,
  slot: Slot,
  loaded?: { readonly wanted: LoadedState; readonly stored: LoadedState },
): Promise<SessionOutcome> {
  const { source, target } = pair;
  const wanted = loaded?.wanted ?? (await loadWhole(source.stateStore, slot));
  const stored = loaded?.stored ?? (await loadWhole(target.stateStore, slot));
  const relation = await stateRelation(target.stateStore, slot, stored, wanted);
  const digest = new SessionDigest();
  if (wanted !== null) digest.state(wanted);
  const records = recordsOf(source.log, slot);
  const blobs = new BlobCheck(target.log, slot);
  let damage: string | undefined;
  const alignment = await alignLog(target.log, slot, records, digest, null, async (record) => {
    damage ??= await problemOf(() => blobs.check(record));
  });
  const summary = digest.summary();
  const isEmpty = wanted === null && summary.records === 0;
  const said = isEmpty ? await entryIds(source, slot) : [];
  if (isEmpty && said.length === 0) return { kind: "gone", slot };
  if (damage !== undefined) return { kind: "mismatch", slot, summary, reason: damage };
  const verdict = sessionVerdict(relation, alignment);
  switch (verdict.kind) {
    case "same":
      if (isEmpty) {
        const there = await entryIds(target, slot);
        return {
          kind: said.every((id) => there.includes(id)) ? "present" : "missing",
          slot,
          summary,
        };
      }
      // The logs were compared above, record by record.
      return wanted === null || (stored !== null && isSameState(wanted, stored))
        ? { kind: "present", slot, summary }
        : {
            kind: "mismatch",
            slot,
            summary,
            reason: "the states differ although their revisions are equal",
          };
    case "ahead":
      return { kind: "ahead", slot, summary };
    case "behind": {
      const isMissing = stored === null && alignment.shared === 0;
      return { kind: isMissing ? "missing" : "behind", slot, summary };
    }
    default:
      return refusedOutcome(pair, slot, verdict, { wanted, stored });
  }
}

/** Returns the ids of what waits in a session's inbox. */
export async function entryIds(
  { stateStore }: Pick<DistributedStore, "stateStore">,
  slot: Slot,
): Promise<readonly string[]> {
  return ((await stateStore.inbox?.read(slot)) ?? []).map(({ id }) => id);
}

/** Returns the message of a corrupt record of the target; other errors are thrown. */
async function problemOf(check: () => Promise<void>): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    if (StateCorruptError.is(error)) return error.message;
    throw error;
  }
}
