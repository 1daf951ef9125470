import { StateCorruptError } from "../errors/index.js";
import type { Message } from "../message/message.js";
import type { StateWrite } from "../ports/agent-state-store.js";

/**
 * The messages after a write: keep, replace, append.
 *
 * @throws StateCorruptError when the write does not fit: it keeps more than there is, or replaces what it does not keep
 */
export function applyWrite(
  stored: readonly Message[],
  write: Pick<StateWrite, "keep" | "replace" | "append">,
): Message[] {
  if (!Number.isInteger(write.keep) || write.keep < 0 || write.keep > stored.length)
    throw new StateCorruptError(
      `a save keeps ${write.keep} messages of ${stored.length}: caller and store disagree`,
    );
  const messages = stored.slice(0, write.keep);
  for (const [index, message] of write.replace) {
    if (!Number.isInteger(index) || index < 0 || index >= write.keep)
      throw new StateCorruptError(`a save replaces message ${index} but keeps only ${write.keep}`);
    messages[index] = message;
  }
  for (const message of write.append) messages.push(message);
  return messages;
}
