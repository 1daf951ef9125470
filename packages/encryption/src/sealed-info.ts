import type { JsonObject, SessionInfo, Slot } from "@holdfast/core";
import { StateCorruptError } from "@holdfast/core";
import { describeSlot, slotText } from "@holdfast/core/store-kit";
import type { KeyRing } from "./key-ring.js";
import { Seals } from "./seals.js";

/** Form of {@link SessionInfo} in the store: facts that listings select by stay readable, all others are sealed. */
type SealedInfo = Pick<SessionInfo, "unfinished" | "waiting" | "counts"> & {
  readonly sealed?: string;
};

/** Seals the facts about a session, except `unfinished`, `waiting` and `counts`. */
export function sealInfo(ring: KeyRing, slot: Slot, info: SessionInfo): SealedInfo {
  const { unfinished, waiting, counts, ...secret } = info;
  const text = JSON.stringify(secret);
  return {
    ...readable({ unfinished, waiting, counts }),
    ...(text !== "{}" && { sealed: sealsOf(ring, slot).seal(text) }),
  };
}

/**
 * Opens the facts of a listed session. Those that do not open are left out: one session must not hide all others from a
 * listing. Loading it throws the reason, if its state is damaged as well.
 */
export function openInfo(ring: KeyRing, slot: Slot, info: SessionInfo): SessionInfo {
  const facts = readable(info);
  try {
    const text = sealsOf(ring, slot).open(info, `the listing of ${describeSlot(slot)}`);
    return text === null ? info : { ...(JSON.parse(text) as JsonObject), ...facts };
  } catch (error) {
    if (StateCorruptError.is(error)) return facts;
    throw error;
  }
}

function readable({ unfinished, waiting, counts }: SessionInfo): SessionInfo {
  return {
    ...(unfinished !== undefined && { unfinished }),
    ...(waiting !== undefined && { waiting }),
    ...(counts !== undefined && { counts }),
  };
}

function sealsOf(ring: KeyRing, slot: Slot): Seals {
  return new Seals(ring, "holdfast.info.1", slotText(slot));
}
