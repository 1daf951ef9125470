import { InvalidInputError } from "../errors/errors.js";

/** A session as callers name it; without a sessionId the agent's default one. */
export interface SessionName {
  readonly userId?: string | null | undefined;
  readonly sessionId?: string | undefined;
}

/** `(userId, sessionId, …rest)` or `({ userId, sessionId }, …rest)`, told apart. */
export function sessionArguments(args: readonly unknown[]): {
  readonly name: SessionName;
  readonly rest: readonly unknown[];
} {
  const [first, second] = args;
  if (first === undefined && second === undefined) return { name: {}, rest: args.slice(2) };
  if (typeof first === "object" && first !== null)
    return { name: first as SessionName, rest: args.slice(1) };
  if (typeof second !== "string")
    throw new InvalidInputError(
      "name a session by (userId, sessionId) or by { userId, sessionId }",
    );
  return {
    name: { userId: first as string | null | undefined, sessionId: second },
    rest: args.slice(2),
  };
}
