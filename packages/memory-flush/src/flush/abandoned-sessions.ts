import type { Slot } from "@holdfast/core";
import type { MemoryParts } from "../memory-parts.js";
import { SlotEntries } from "./slot-entries.js";

/** Most sessions that are flushed at a time. */
const MAX_SESSIONS = 5;
/** Most sessions that are checked: a flush updates a session, and recently flushed ones must not hide the others. */
const MAX_LOOKED_AT = 100;
/** Tolerance for the times of a log, which may be off by minutes, and for its clock. */
const SLACK_MS = 300_000;

/**
 * Finds other sessions of a user that were updated but never flushed, because the process that should have done it died.
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
      // Sessions that were never checked come first: most others have nothing new.
      .sort((a, b) => b.lag - a.lag)
      .slice(0, MAX_SESSIONS)
      .map(({ slot }) => slot)
  );
}
