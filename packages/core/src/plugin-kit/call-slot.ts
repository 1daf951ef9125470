import type { RuntimeContext } from "../context/runtime-context.js";
import { checkId, type Slot } from "../slot/slot.js";

/**
 * Returns the session that a tool was called in. It comes from the call, never from arguments, which the model writes.
 *
 * @throws InvalidIdError when the context names no session
 */
export function callSlot(agentId: string, ctx: RuntimeContext): Slot {
  const { userId, sessionId } = ctx.agentState ?? ctx;
  return { agentId, userId, sessionId: checkId(sessionId, "sessionId") };
}
