import { InvalidInputError } from "@holdfast/core";
import { checkId } from "@holdfast/core/store-kit";
import type { SessionScope } from "../caller.js";

/** How far a search has come. */
export interface SearchPosition {
  readonly sessionId: string;
  /** Records before this one are still to be looked at. */
  readonly seq: number;
  /** The record itself too, from this character of its rendering on. */
  readonly offset?: number | undefined;
}

/** A position as a cursor: `5100@session`, or `5100+70000@session` within a record. */
export function positionText({ sessionId, seq, offset }: SearchPosition): string {
  return `${seq}${offset === undefined ? "" : `+${offset}`}@${sessionId}`;
}

/**
 * The inverse of {@link positionText}.
 *
 * @throws InvalidInputError, InvalidIdError when it is none, or not one of this search
 */
export function readPosition(cursor: string, { sessionId: only }: SessionScope): SearchPosition {
  const [, seqText, offsetText, sessionId] =
    /^(\d{1,16})(?:\+(\d{1,16}))?@(.*)$/s.exec(cursor) ?? [];
  const seq = Number(seqText);
  const offset = offsetText === undefined ? undefined : Number(offsetText);
  if (sessionId === undefined || !(seq < Number.MAX_SAFE_INTEGER))
    throw new InvalidInputError("the cursor is none of this tool; copy it from the answer before");
  checkId(sessionId, "the session of the cursor");
  if (only !== undefined && only !== sessionId)
    throw new InvalidInputError("the cursor belongs to the search of another session");
  return { sessionId, seq, offset };
}
