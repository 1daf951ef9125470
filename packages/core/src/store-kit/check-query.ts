import { InvalidInputError } from "../errors/errors.js";
import { showValue } from "../plugin-kit/show-value.js";
import type { SessionInfo, SlotQuery } from "../ports/agent-state-store.js";
import { checkId, type Slot } from "../slot/slot.js";

/**
 * Returns the number of entries a page may have: `limit`, or `otherwise` when it is not given.
 *
 * @throws InvalidInputError unless it is a whole number of at least 1
 */
export function checkLimit(limit: number | undefined, otherwise: number): number {
  if (limit === undefined) return otherwise;
  if (!Number.isInteger(limit) || limit < 1)
    throw new InvalidInputError(
      `limit is ${showValue(limit)}; it must be a whole number of at least 1`,
    );
  return limit;
}

/** Error of a cursor that no listing of this store or log has given. */
export function strangeCursor(whose: "store" | "log"): InvalidInputError {
  return new InvalidInputError(
    `the cursor does not come from a listing of this ${whose}; leave the cursor out to begin anew`,
  );
}

/**
 * Returns a predicate for the slots that a query asks for.
 *
 * @throws InvalidIdError immediately, when the query names an id that cannot exist
 */
export function matchSlot(query: SlotQuery): (slot: Slot) => boolean {
  const { agentId, userId } = query;
  if (agentId !== undefined) checkId(agentId, "agentId");
  if (userId !== undefined && userId !== null) checkId(userId, "userId");
  return (slot) =>
    (agentId === undefined || slot.agentId === agentId) &&
    (userId === undefined || slot.userId === userId);
}

/** Returns a predicate for the listed facts of the sessions that a query selects by `unfinished` and `waiting`. */
export function matchInfo(query: SlotQuery): (info: SessionInfo | undefined) => boolean {
  const { unfinished, waiting } = query;
  return (info) =>
    (unfinished !== true || info?.unfinished === true) &&
    (waiting !== true || info?.waiting === true);
}
