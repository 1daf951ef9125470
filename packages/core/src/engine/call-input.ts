import { InvalidInputError } from "../errors/errors.js";
import { isRecord, type JsonValue, toJsonValue } from "../json/json.js";
import { adoptMessage, createMessage } from "../message/create-message.js";
import type { DataBlock, Message, TextBlock, ToolResultState } from "../message/message.js";
import { uuidv7 } from "../slot/uuid.js";
import type { PermissionRule } from "../state/sections.js";

/** A person's answer about a tool call that asks. */
export interface Confirmation {
  readonly toolCallId: string;
  readonly approve: boolean;
  /** Runs the call with this input instead of the model's. */
  readonly input?: JsonValue | undefined;
  /** Told to the model when denied. */
  readonly reason?: string | undefined;
  /** Rules to keep for this session; `true` keeps those the guard suggests. */
  readonly remember?: boolean | readonly PermissionRule[] | undefined;
}

/** What came of a suspended tool call. */
export interface ExternalResult {
  readonly toolCallId: string;
  /** Text, blocks, or anything JSON can hold. */
  readonly output: string | readonly (TextBlock | DataBlock)[] | JsonValue;
  /** @default "success" */
  readonly state?: ToolResultState | undefined;
}

/** What an agent can be called with. */
export type CallInput =
  | string
  | Message
  | readonly Message[]
  | { readonly confirm: readonly Confirmation[] }
  | { readonly results: readonly ExternalResult[] };

/** A call's input, checked and told apart. */
export type ReadInput =
  | {
      readonly kind: "messages";
      readonly messages: readonly Message[];
      /** The ids were chosen by the caller and may be taken already. */
      readonly foreignIds: boolean;
    }
  | { readonly kind: "confirm"; readonly confirm: readonly Confirmation[] }
  | { readonly kind: "results"; readonly results: readonly ExternalResult[] };

/** @throws InvalidInputError */
export function readInput(input: CallInput, now: () => Date): ReadInput {
  if (typeof input === "string")
    return {
      kind: "messages",
      messages: [createMessage("user", input, { createdAt: now() })],
      foreignIds: false,
    };
  if (isRecord(input) && "confirm" in input)
    return { kind: "confirm", confirm: confirmations(input["confirm"]) };
  if (isRecord(input) && "results" in input)
    return { kind: "results", results: byCall(input["results"], "results") as ExternalResult[] };
  const messages = (Array.isArray(input) ? input : [input]).map(adoptMessage);
  for (const { role, content } of messages) {
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
  }
  return { kind: "messages", messages, foreignIds: true };
}

function confirmations(value: unknown): Confirmation[] {
  return (byCall(value, "confirm") as Confirmation[]).map((confirmation) => {
    const { toolCallId, approve, input } = confirmation;
    const call = `tool call ${JSON.stringify(toolCallId)}`;
    if (typeof approve !== "boolean")
      throw new InvalidInputError(`confirm must say about ${call} approve: true or false`);
    return input === undefined
      ? confirmation
      : { ...confirmation, input: toJsonValue(input, `the input of ${call}`) };
  });
}

function byCall(value: unknown, what: string): unknown[] {
  if (!Array.isArray(value) || value.length === 0)
    throw new InvalidInputError(`${what} must be a list with at least one entry`);
  const seen = new Set<unknown>();
  for (const entry of value) {
    const id: unknown = isRecord(entry) ? entry["toolCallId"] : undefined;
    if (typeof id !== "string")
      throw new InvalidInputError(`every entry of ${what} needs a toolCallId`);
    if (seen.has(id)) throw new InvalidInputError(`${what} names call ${JSON.stringify(id)} twice`);
    seen.add(id);
  }
  return value;
}

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
