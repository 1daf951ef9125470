import { type ConversationLog, InvalidInputError, type Slot } from "@holdfast/core";
import { type Caller, isSameSession } from "./caller.js";
import { describeCall, LIST } from "./tool-calls.js";

/**
 * Refuses a session id that no session of the user has. Asked only when nothing was found: a session that has something to
 * show exists. Sessions of other users do not exist for the caller.
 *
 * @throws InvalidInputError
 */
export async function refuseMissingSession(
  log: Pick<ConversationLog, "read">,
  caller: Caller,
  slot: Slot,
): Promise<void> {
  // The caller's own session exists, whether it has a log yet or not.
  if (isSameSession(slot, caller.slot)) return;
  if ((await log.read(slot, { limit: 1 })).length > 0) return;
  const { agentId, sessionId } = slot;
  const isOther = agentId !== caller.slot.agentId;
  const where = isOther ? ` with agent ${JSON.stringify(agentId)}` : "";
  const list = describeCall(LIST, { agentId: isOther ? agentId : undefined });
  throw new InvalidInputError(
    `there is no session ${JSON.stringify(sessionId)} of this user${where}; ${list} shows the ids of those there are`,
  );
}
