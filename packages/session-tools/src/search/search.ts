import { type ConversationLog, InvalidInputError, type Slot } from "@holdfast/core";
import type { YieldingClock } from "@holdfast/core/plugin-kit";
import { checkId } from "@holdfast/core/store-kit";
import type { CallRemarks } from "../call-remarks.js";
import type { SessionScope } from "../caller.js";
import type { MessageRecord } from "../log-records.js";

/** A search: the query, its scope and the parts it needs. */
export interface Search {
  readonly log: ConversationLog;
  readonly scope: SessionScope;
  readonly query: string;
  /** Position to continue from. */
  readonly from: SearchPosition | undefined;
  readonly remarks: CallRemarks;
  readonly clock: YieldingClock;
  readonly signal: AbortSignal;
}

/** A message that matches the query. */
export interface Hit {
  readonly slot: Slot;
  readonly record: MessageRecord;
  /** Remark about its call. */
  readonly remark: string;
  readonly snippet: string;
  /** Offset in the rendering from which to read. */
  readonly offset: number;
}

/** Progress of a search, and the hit at that position if there is one. */
export interface SearchStep {
  readonly position: SearchPosition;
  readonly hit?: Hit | undefined;
}

/** Progress of a search. */
export interface SearchPosition {
  readonly sessionId: string;
  /** Records before this one have not been searched. */
  readonly seq: number;
  /** Within the record itself, the rest from this character of its rendering has not been searched either. */
  readonly offset?: number | undefined;
}

/** Formats a position as a cursor: `5100@session`, or `5100+70000@session` within a record. */
export function positionText({ sessionId, seq, offset }: SearchPosition): string {
  return `${seq}${offset === undefined ? "" : `+${offset}`}@${sessionId}`;
}

/**
 * Parses a cursor made by {@link positionText}.
 *
 * @throws InvalidInputError, InvalidIdError when it is malformed, or belongs to another search
 */
export function readPosition(cursor: string, { sessionId: only }: SessionScope): SearchPosition {
  const [, seqText, offsetText, sessionId] =
    /^(\d{1,16})(?:\+(\d{1,16}))?@(.*)$/s.exec(cursor) ?? [];
  const seq = Number(seqText);
  const offset = offsetText === undefined ? undefined : Number(offsetText);
  if (sessionId === undefined || !(seq < Number.MAX_SAFE_INTEGER))
    throw new InvalidInputError(
      "the cursor is not one of this tool; copy it from the previous answer",
    );
  checkId(sessionId, "the session of the cursor");
  if (only !== undefined && only !== sessionId)
    throw new InvalidInputError("the cursor belongs to the search of another session");
  return { sessionId, seq, offset };
}
