import type { Message } from "../../message/message.js";
import { uuidv7 } from "../../slot/uuid.js";

/** Ids are unique within a session: a message that was sent before gets a new one. */
export function withFreshIds(
  messages: readonly Message[],
  context: readonly Message[],
): readonly Message[] {
  const wanted = new Set(messages.map(({ id }) => id));
  const taken = new Set<string>();
  for (const { id } of context) if (wanted.has(id)) taken.add(id);
  return messages.map((message) => {
    if (!taken.has(message.id)) {
      taken.add(message.id);
      return message;
    }
    return Object.freeze({ ...message, id: uuidv7() });
  });
}
