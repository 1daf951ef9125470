import type { Slot } from "@holdfast/core";
import type { MemoryParts } from "../memory-parts.js";
import { SlotEntries } from "./slot-entries.js";

const MAX_SESSIONS = 5;
/** What a log says about its last record may be off by minutes, and its clock too. */
const SLACK_MS = 300_000;

/**
 * Other sessions of a user that were written to last and then not looked at any more, because the process that should have
 * died.
 */
export async function otherSessions(
  parts: MemoryParts,
  { userId, sessionId }: Slot,
): Promise<Slot[]> {
  if (userId === null) return [];
  const { agentId } = parts;
  const query = { agentId, userId, limit: MAX_SESSIONS + 1 };
  const { sessions } = await parts.log.sessions(query);
  const others = sessions.filter(({ slot }) => slot.sessionId !== sessionId).slice(0, MAX_SESSIONS);
  if (others.length === 0) return [];
  const looked = await new SlotEntries(parts.keyValue).lookedAt(others.map(({ slot }) => slot));
  return others
    .filter(({ lastAt }, index) => Date.parse(lastAt) + SLACK_MS > (looked[index] ?? 0))
    .map(({ slot }) => slot);
}
