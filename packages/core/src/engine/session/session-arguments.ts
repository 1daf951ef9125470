import { RuntimeContext, type RuntimeContextFields } from "../../context/runtime-context.js";
import { InvalidIdError } from "../../errors/errors.js";
import type { Slot } from "../../slot/slot.js";
import type { AgentParts } from "../assemble/agent-parts.js";

/** A session as callers name it; without a sessionId the agent's default one. */
export interface SessionName {
  readonly userId?: string | null | undefined;
  readonly sessionId?: string | undefined;
}

/** Session that a method of an agent was called for, and the arguments behind its name. */
export interface NamedSession {
  readonly slot: Slot;
  /** Context that names the session. */
  readonly ctx: RuntimeContext;
  readonly rest: readonly unknown[];
}

/** Returns the session that the arguments of a method begin with. @throws InvalidInputError | InvalidIdError */
export function namedSession(parts: AgentParts, args: readonly unknown[]): NamedSession {
  const { name, rest } = sessionArguments(args);
  const ctx = contextOf(parts, name);
  return { slot: parts.slotOf(ctx), ctx, rest };
}

/** @throws InvalidInputError | InvalidIdError for what is no context, or names a session of another agent */
export function contextOf(
  { settings }: AgentParts,
  fields: RuntimeContext | RuntimeContextFields | SessionName,
): RuntimeContext {
  const ctx = RuntimeContext.of(fields);
  const { agentId } = fields as Partial<Slot>;
  if (agentId !== undefined && agentId !== settings.agentId)
    throw new InvalidIdError(
      `the session named belongs to agent ${JSON.stringify(agentId)}; this agent's id is ${JSON.stringify(settings.agentId)}`,
    );
  return ctx;
}

/**
 * `(userId, sessionId, …rest)` or `({ userId, sessionId }, …rest)`, told apart.
 *
 * @throws InvalidIdError for an object that names no session: taken for one, it would mean the default session
 */
function sessionArguments(args: readonly unknown[]): {
  readonly name: SessionName;
  readonly rest: readonly unknown[];
} {
  const [first, second] = args;
  if (first === undefined && second === undefined) return { name: {}, rest: args.slice(2) };
  if (typeof first === "object" && first !== null) {
    // With a text behind it, an empty object was meant as a user id.
    if (!isSessionName(first) || (typeof second === "string" && Object.keys(first).length === 0))
      throw new InvalidIdError("name a session by (userId, sessionId) or by { userId, sessionId }");
    return { name: first, rest: args.slice(1) };
  }
  if (second === undefined || second === null)
    throw new InvalidIdError(
      "there is no sessionId behind the userId; name the session by (userId, sessionId), or the user's default one by { userId }",
    );
  return {
    // Whatever they are: the ids are checked where all ids are.
    name: { userId: first as string | null | undefined, sessionId: second as string },
    rest: args.slice(2),
  };
}

function isSessionName(value: object): value is SessionName {
  return Object.keys(value).length === 0
    ? Object.getPrototypeOf(value) === Object.prototype
    : "userId" in value || "sessionId" in value;
}
