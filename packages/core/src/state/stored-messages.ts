import { StateCorruptError } from "../errors/index.js";
import { deepFreeze, isDeeperThan, MAX_JSON_DEPTH } from "../json/json.js";
import type { Message } from "../message/message.js";
import { messageProblem } from "../message/message-problem.js";
import { upgradeMessage } from "../message/upgrade-message.js";

/**
 * The messages in a stored document, checked and frozen in place.
 *
 * @throws StateCorruptError
 */
export function storedMessages(value: unknown): Message[] {
  if (!Array.isArray(value))
    throw new StateCorruptError("the state document's context is not a list");
  return Array.from(value, storedMessage);
}

function storedMessage(stored: unknown, index: number): Message {
  const value = upgradeMessage(stored);
  // Depth first: freezing takes recursion.
  const problem = isDeeperThan(value, MAX_JSON_DEPTH)
    ? `it is nested deeper than ${MAX_JSON_DEPTH} levels`
    : messageProblem(value);
  if (problem !== null) throw new StateCorruptError(`message ${index} of the state: ${problem}`);
  return deepFreeze(value as Message);
}
