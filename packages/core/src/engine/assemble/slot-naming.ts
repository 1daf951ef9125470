import type { RuntimeContext } from "../../context/runtime-context.js";
import { InvalidIdError } from "../../errors/errors.js";
import { checkSlot, type Slot } from "../../slot/slot.js";
import type { AgentSettings, ReActAgentOptions } from "./agent-options.js";

/** Returns the function that finds the slot of a call, by the agent's keying. */
export function slotNaming(
  { agentId, defaultSessionId, requireSession }: AgentSettings,
  keying: ReActAgentOptions["slot"],
): (ctx: RuntimeContext) => Slot {
  return (ctx) => {
    // A function that forgets to return must not put its users into the default keying.
    const named = keying ? keying(ctx) : ctx;
    if (requireSession !== false && named?.sessionId === undefined)
      throw missing("sessionId", requireSession);
    if (requireSession === "user" && (named?.userId ?? null) === null)
      throw missing("userId", requireSession);
    const { userId, sessionId = keying ? undefined : defaultSessionId } = named ?? {};
    return checkSlot({ agentId, userId, sessionId } as Slot);
  };
}

function missing(id: string, requireSession: true | "user"): InvalidIdError {
  return new InvalidIdError(
    `the call names no ${id}, and this agent was built with requireSession: ${JSON.stringify(requireSession)}; pass { userId, sessionId }`,
  );
}
