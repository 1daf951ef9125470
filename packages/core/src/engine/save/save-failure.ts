import { StateConflictError, UnknownOutcomeError } from "../../errors/store-errors.js";
import { describeSlot } from "../../slot/slot.js";
import type { OpenSession } from "../session/open-session.js";

/**
 * Returns the error of a save in words for the caller of the agent, who cannot repeat a save but a call. The store's own
 * error is its cause. Errors that need no other words are returned unchanged.
 */
export function saveFailure(session: OpenSession, error: unknown): unknown {
  const which = describeSlot(session.slot);
  if (StateConflictError.is(error)) {
    // A conflict that could not be merged says why.
    const isExplained = StateConflictError.is(error.cause);
    const what = isExplained
      ? error.message
      : `another process saved ${which} while this call ran, so that its turn was not saved`;
    return new StateConflictError(`${what}. ${savedSteps(session)}Repeat the call`, {
      cause: isExplained ? error.cause : error,
      savedMessageIds: savedMessageIds(session),
    });
  }
  if (UnknownOutcomeError.is(error))
    return new UnknownOutcomeError(
      `the turn of ${which} may or may not have been saved: the store gave no clear answer. ${savedSteps(session)}Repeat the call with the same callId: if the turn was saved, you get its reply, and no model is asked`,
      { cause: error },
    );
  return error;
}

/** Returns what steps saved before a failure have left in the session, as a sentence with a space behind it. */
export function savedSteps(session: OpenSession): string {
  const count = savedMessageIds(session).length;
  return count === 0
    ? ""
    : `Steps of it had been saved before: ${count === 1 ? "1 message stays" : `${count} messages stay`} in the session, unless another call has taken them back. `;
}

function savedMessageIds({ hasSavedSteps, savedMessages, log }: OpenSession): readonly string[] {
  return hasSavedSteps ? log.messageIds.slice(0, savedMessages) : [];
}
