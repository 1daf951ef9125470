import { type ConversationLog, InvalidInputError, type Slot } from "@holdfast/core";
import type { YieldingClock } from "@holdfast/core/plugin-kit";
import type { SessionScope } from "../caller.js";
import type { SearchPosition } from "./search-position.js";

/**
 * The sessions to look through, the one written to last first; from the one in which a search stopped.
 *
 * @throws InvalidInputError when that one is gone
 */
export async function* slotsFrom(
  log: Pick<ConversationLog, "sessions">,
  { agentId, userId, sessionId }: SessionScope,
  from: SearchPosition | undefined,
  clock: YieldingClock,
): AsyncGenerator<Slot> {
  if (sessionId !== undefined) {
    yield { agentId, userId, sessionId };
    return;
  }
  // Without a session there is a user: the scope saw to that.
  const query = { agentId, userId: userId ?? "" };
  let isReached = from === undefined;
  let cursor: string | undefined;
  do {
    await clock.tick();
    const page = await log.sessions({ ...query, cursor });
    for (const { slot } of page.sessions) {
      isReached ||= slot.sessionId === from?.sessionId;
      if (isReached) yield slot;
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  if (!isReached)
    throw new InvalidInputError("the session of the cursor is gone; search again without cursor");
}
