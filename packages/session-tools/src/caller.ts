import {
  type AgentState,
  InvalidInputError,
  type Slot,
  type ToolCallContext,
} from "@holdfast/core";
import { checkId } from "@holdfast/core/store-kit";

/** The call that a tool runs in. It decides which sessions may be read; arguments of the model do not. */
export interface Caller {
  /** The session of the call. */
  readonly slot: Slot;
  readonly callId: string | undefined;
  readonly signal: AbortSignal;
  /** State of the call's own session. */
  readonly state: AgentState | undefined;
}

/** Session ids that the model asked for. */
export interface SessionRequest {
  readonly agentId?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** Returns the caller of a tool: a session of the agent, or of a subagent that has its tools. */
export function callerOf(ctx: ToolCallContext, signal: AbortSignal): Caller {
  return { slot: ctx.slot, callId: ctx.callId, signal, state: ctx.agentState };
}

/**
 * Returns the session to read: the caller's own, or another one of the same user.
 *
 * @throws InvalidIdError, InvalidInputError when it may not be read; the same whether it exists or not
 */
export function requestedSlot(caller: Caller, wish: SessionRequest): Slot {
  const { agentId, userId, sessionId } = requestedScope(caller, wish);
  if (sessionId !== undefined) return { agentId, userId, sessionId };
  if (agentId === caller.slot.agentId) return caller.slot;
  throw new InvalidInputError(
    "give a sessionId too: this session belongs to this agent, not to another one",
  );
}

/**
 * Returns the sessions to search: all of the user with an agent, or one of them.
 *
 * @throws InvalidIdError, InvalidInputError when they may not be read
 */
export function requestedScope(
  { slot }: Caller,
  { agentId, sessionId }: SessionRequest,
): SessionScope {
  const scope = {
    agentId: checkId(agentId ?? slot.agentId, "agentId"),
    userId: slot.userId,
    sessionId: sessionId === undefined ? undefined : checkId(sessionId, "sessionId"),
  };
  if (slot.userId !== null) return scope;
  // Sessions without a user share nothing, not even with the same agent.
  if (!isSameSession({ ...scope, sessionId: sessionId ?? slot.sessionId }, slot))
    throw onlyThisSession();
  return { ...scope, sessionId: slot.sessionId };
}

/** The sessions of a user with an agent, or one of them; always one when there is no user. */
export interface SessionScope {
  readonly agentId: string;
  readonly userId: string | null;
  readonly sessionId: string | undefined;
}

/** Tells whether two slots of one user are the same. */
export function isSameSession(one: Omit<Slot, "userId">, other: Omit<Slot, "userId">): boolean {
  return one.agentId === other.agentId && one.sessionId === other.sessionId;
}

function onlyThisSession(): InvalidInputError {
  return new InvalidInputError(
    "without a user only this session can be read; leave out sessionId and agentId",
  );
}
