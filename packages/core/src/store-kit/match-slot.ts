import type { SlotQuery } from "../ports/agent-state-store.js";
import { checkId, type Slot } from "../slot/slot.js";

/**
 * Whether a slot is one the query asks for.
 *
 * @throws InvalidIdError at once when the query itself names an id that cannot exist
 */
export function matchSlot(query: SlotQuery): (slot: Slot) => boolean {
  const { agentId, userId } = query;
  if (agentId !== undefined) checkId(agentId, "agentId");
  if (userId !== undefined && userId !== null) checkId(userId, "userId");
  return (slot) =>
    (agentId === undefined || slot.agentId === agentId) &&
    (userId === undefined || slot.userId === userId);
}
