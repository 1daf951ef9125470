import { InvalidInputError } from "../errors/errors.js";
import { isRecord, toJsonValue } from "../json/json.js";
import { uuidv7 } from "../slot/uuid.js";
import type { Block, Message, Role, ToolResultBlock, Usage } from "./message.js";
import { messageProblem } from "./message-problem.js";

/** What can stand beside the content when a message is made. */
export interface MessageOptions {
  /** @default a new UUIDv7 */
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  /** @default now */
  readonly createdAt?: string | Date | undefined;
  readonly usage?: Usage | undefined;
  readonly metadata?: Message["metadata"] | undefined;
}

/**
 * A frozen message of a user.
 *
 * @example userMessage("What is in the report?")
 */
export function userMessage(content: string | readonly Block[], options?: MessageOptions): Message {
  return createMessage("user", content, options);
}

/** A frozen message of the model. */
export function assistantMessage(
  content: string | readonly Block[],
  options?: MessageOptions,
): Message {
  return createMessage("assistant", content, options);
}

/** A frozen message that carries the results of tool calls. */
export function toolResultMessage(
  results: ToolResultBlock | readonly ToolResultBlock[],
  options?: MessageOptions,
): Message {
  return createMessage("tool", Array.isArray(results) ? results : [results], options);
}

/**
 * A frozen message with any role.
 *
 * @throws InvalidInputError when the content is not made of valid blocks or cannot be kept as JSON
 */
export function createMessage(
  role: Role,
  content: string | readonly Block[],
  options: MessageOptions = {},
): Message {
  const { id = uuidv7(), name, createdAt = new Date(), usage, metadata } = options;
  return adoptMessage({
    id,
    role,
    name,
    content: typeof content === "string" ? [{ type: "text", text: content }] : content,
    createdAt,
    usage,
    metadata,
  });
}

/**
 * A frozen copy of a message that somebody else made, checked.
 *
 * @throws InvalidInputError
 */
export function adoptMessage(message: unknown): Message {
  const copy = toJsonValue(message, "message");
  const problem = isRecord(copy) ? messageProblem(copy) : "it is not an object";
  if (problem !== null) throw new InvalidInputError(`not a message: ${problem}`);
  return copy as unknown as Message;
}
