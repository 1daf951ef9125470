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

/**
 * The messages in a stored document that can be read, checked and frozen in place.
 *
 * @param damage - receives a sentence about each of the others
 * @returns the messages, and how many of them the store holds in the same place
 */
export function soundMessages(
  value: unknown,
  damage: string[],
): { readonly messages: Message[]; readonly sound: number } {
  if (!Array.isArray(value)) {
    damage.push("context is not a list");
    return { messages: [], sound: 0 };
  }
  const messages: Message[] = [];
  let sound = 0;
  for (const [index, stored] of value.entries()) {
    try {
      messages.push(storedMessage(stored, index));
      if (messages.length === index + 1) sound = messages.length;
    } catch (error) {
      if (!StateCorruptError.is(error)) throw error;
      damage.push(error.message);
    }
  }
  return { messages, sound };
}

/**
 * A stored message, checked and frozen in place.
 *
 * @throws StateCorruptError
 */
export function storedMessage(stored: unknown, index: number): Message {
  const value = upgradeMessage(stored);
  // Depth first: freezing takes recursion.
  const problem = isDeeperThan(value, MAX_JSON_DEPTH)
    ? `it is nested deeper than ${MAX_JSON_DEPTH} levels`
    : messageProblem(value);
  if (problem !== null) throw new StateCorruptError(`message ${index} of the state: ${problem}`);
  return deepFreeze(value as Message);
}
