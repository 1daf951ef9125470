import { InvalidInputError } from "../errors/errors.js";
import { isFrozenJson, isRecord, toJsonValue } from "../json/json.js";
import { uuidv7 } from "../slot/uuid.js";
import type { Block, Message, Role, ToolResultBlock, Usage } from "./message.js";
import { messageProblem } from "./message-problem.js";

/** Fields of a new message besides its role and content. */
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
 * Creates a frozen message of a user.
 *
 * @throws InvalidInputError
 * @example userMessage("What is in the report?")
 */
export function userMessage(content: string | readonly Block[], options?: MessageOptions): Message {
  return createMessage("user", content, options);
}

/** Creates a frozen message of the model. @throws InvalidInputError */
export function assistantMessage(
  content: string | readonly Block[],
  options?: MessageOptions,
): Message {
  return createMessage("assistant", content, options);
}

/** Creates a frozen message with the results of tool calls. @throws InvalidInputError */
export function toolResultMessage(
  results: ToolResultBlock | readonly ToolResultBlock[],
  options?: MessageOptions,
): Message {
  return createMessage("tool", Array.isArray(results) ? results : [results], options);
}

/**
 * Creates a frozen message with any role.
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
 * Checks a message from outside and returns a frozen copy of it; one that is frozen throughout is returned itself.
 *
 * @throws InvalidInputError when it is not a message or cannot be kept as JSON
 */
export function adoptMessage(message: unknown): Message {
  const copy = isFrozenJson(message) ? message : toJsonValue(message, "message");
  const problem = isRecord(copy) ? messageProblem(copy) : "it is not an object";
  if (problem !== null) throw new InvalidInputError(`not a message: ${problem}`);
  return copy as unknown as Message;
}
