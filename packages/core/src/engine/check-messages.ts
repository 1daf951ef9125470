import { InvalidInputError } from "../errors/errors.js";
import { StateTooLargeError } from "../errors/store-errors.js";
import { isRecord } from "../json/json.js";
import { adoptMessage } from "../message/create-message.js";
import type { Message } from "../message/message.js";
import { messageBytes } from "../message/read-message.js";
import { showValue } from "../plugin-kit/show-value.js";

/**
 * Returns messages that a caller says to an agent, frozen.
 *
 * @throws InvalidInputError for what is no message, and for messages that only the engine writes
 */
export function checkMessages(value: unknown): Message[] {
  // Not `map`, which would keep the holes of a sparse array.
  return Array.from(Array.isArray(value) ? value : [value], (given: unknown) => {
    const foreign = foreignForm(given);
    if (foreign !== null) throw new InvalidInputError(`not a message: ${foreign}`);
    const message = adoptMessage(given);
    const { role, content } = message;
    if (content.some(({ type }) => type === "tool_call" || type === "tool_result"))
      throw new InvalidInputError(
        "a call takes no tool calls or results: answer suspended calls with { results }",
      );
    if (role === "system" || role === "tool")
      throw new InvalidInputError(
        role === "system"
          ? "a call takes no system messages: set the agent's systemPrompt, or add an onSystemPrompt middleware"
          : "a call takes no tool messages: answer suspended calls with { results }",
      );
    return message;
  });
}

/** @throws StateTooLargeError when one of the messages is over `limits.messageBytes` */
export function checkSizes(messages: readonly Message[], maxBytes: number): void {
  for (const message of messages)
    if (messageBytes(message) > maxBytes)
      throw new StateTooLargeError(
        `a message of the input has ${messageBytes(message)} bytes; limits.messageBytes allows ${maxBytes}`,
      );
}

/** Says what to pass in place of a value that is known not to be a message. */
function foreignForm(value: unknown): string | null {
  if (value instanceof Promise) return "it is a promise; await it first";
  if (!isRecord(value))
    return `pass a text, userMessage(…), a list of messages, { confirm }, { answers } or { results }; got ${showValue(value)}`;
  if ("id" in value && Array.isArray(value["content"])) return null;
  if (Array.isArray(value["parts"]))
    return "it has parts, as messages of the AI SDK's UI have; make one with userMessage(text) from @holdfast/core";
  if ("role" in value && "content" in value)
    return 'it has a role and content as messages of other libraries have; pass the text itself, or make one with userMessage("…") or assistantMessage("…") from @holdfast/core';
  return "pass a text, userMessage(…), a list of messages, { confirm: […] }, { answers: […] } or { results: […] }";
}
