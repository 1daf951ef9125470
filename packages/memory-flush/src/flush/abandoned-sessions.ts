import type { Slot } from "@holdfast/core";
import type { MemoryParts } from "../memory-parts.js";
import { SlotEntries } from "./slot-entries.js";

/** How many are flushed at a time. */
const MAX_SESSIONS = 5;
/** How many are looked at for it: what was flushed counts as written to last, and must not hide what was not. */
const MAX_LOOKED_AT = 100;
/** What a log says about its last record may be off by minutes, and its clock too. */
const SLACK_MS = 300_000;

/**
 * Other sessions of a user that were written to last and then not looked at any more, because the process that should have
 * died.
 */
export async function abandonedSessions(
  parts: MemoryParts,
  { userId, sessionId }: Slot,
): Promise<Slot[]> {
  if (userId === null) return [];
  const { agentId } = parts;
  const { sessions } = await parts.log.sessions({ agentId, userId, limit: MAX_LOOKED_AT });
  const others = sessions.filter(({ slot }) => slot.sessionId !== sessionId);
  if (others.length === 0) return [];
  const slots = others.map(({ slot }) => slot);
  const looked = await new SlotEntries(parts.keyValue).lookedAt(slots, parts.now().getTime());
  return (
    others
      .map(({ slot, lastAt }, index) => ({ slot, lag: Date.parse(lastAt) - (looked[index] ?? 0) }))
      .filter(({ lag }) => lag > -SLACK_MS)
      // Those that were never looked at first: of the others most have nothing new.
      .sort((a, b) => b.lag - a.lag)
      .slice(0, MAX_SESSIONS)
      .map(({ slot }) => slot)
  );
}
