import { InvalidInputError, type RuntimeContext, type Slot } from "@holdfast/core";
import { callSlot } from "@holdfast/core/plugin-kit";
import { checkId } from "@holdfast/core/store-kit";

/** In whose name a tool reads: from the running call, never from what the model wrote. */
export interface Caller {
  /** The session of the call. */
  readonly slot: Slot;
  readonly callId: string | undefined;
  readonly signal: AbortSignal;
}

/** Which sessions the model asked for. */
export interface Wish {
  readonly agentId?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** Who called a tool of this agent. */
export function callerOf(agentId: string, ctx: RuntimeContext, signal: AbortSignal): Caller {
  return { slot: callSlot(agentId, ctx), callId: ctx.callId, signal };
}

/**
 * The session to read: the caller's own, or another one of the same user.
 *
 * @throws InvalidIdError, InvalidInputError when it may not be read; the same whether it exists or not
 */
export function wishedSlot(caller: Caller, wish: Wish): Slot {
  const { agentId, userId, sessionId } = wishedScope(caller, wish);
  if (sessionId !== undefined) return { agentId, userId, sessionId };
  if (agentId === caller.slot.agentId) return caller.slot;
  throw new InvalidInputError("name the sessionId too: this session is not one of another agent");
}

/**
 * Where to look: all sessions of the user with an agent, or one of them.
 *
 * @throws InvalidIdError, InvalidInputError when that may not be read
 */
export function wishedScope({ slot }: Caller, { agentId, sessionId }: Wish): SessionScope {
  const scope = {
    agentId: checkId(agentId ?? slot.agentId, "agentId"),
    userId: slot.userId,
    sessionId: sessionId === undefined ? undefined : checkId(sessionId, "sessionId"),
  };
  if (slot.userId !== null) return scope;
  // Anonymous sessions share nothing, not even with those of the same agent.
  if (!isSame({ ...scope, sessionId: sessionId ?? slot.sessionId }, slot)) throw onlyThisSession();
  return { ...scope, sessionId: slot.sessionId };
}

/** The sessions of a user with an agent, or one of them; without a user always one. */
export interface SessionScope {
  readonly agentId: string;
  readonly userId: string | null;
  readonly sessionId: string | undefined;
}

/** Whether two slots of one user are the same. */
export function isSame(one: Omit<Slot, "userId">, other: Omit<Slot, "userId">): boolean {
  return one.agentId === other.agentId && one.sessionId === other.sessionId;
}

function onlyThisSession(): InvalidInputError {
  return new InvalidInputError(
    "without a user only this session can be read; leave out sessionId and agentId",
  );
}
