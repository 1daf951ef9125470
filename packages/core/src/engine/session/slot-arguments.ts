import { InvalidIdError } from "../../errors/errors.js";

/** A session as callers name it; without a sessionId the agent's default one. */
export interface SessionName {
  readonly userId?: string | null | undefined;
  readonly sessionId?: string | undefined;
}

/**
 * `(userId, sessionId, …rest)` or `({ userId, sessionId }, …rest)`, told apart.
 *
 * @throws InvalidIdError for an object that names no session: taken for one, it would mean the default session
 */
export function sessionArguments(args: readonly unknown[]): {
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
  return {
    // Whatever they are: the ids are checked where all ids are.
    name: { userId: first as string | null | undefined, sessionId: (second ?? null) as string },
    rest: args.slice(2),
  };
}

function isSessionName(value: object): value is SessionName {
  return Object.keys(value).length === 0
    ? Object.getPrototypeOf(value) === Object.prototype
    : "userId" in value || "sessionId" in value;
}
