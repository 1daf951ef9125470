import { InvalidInputError } from "../../errors/errors.js";
import type { AgentReply } from "../../events/agent-reply.js";
import { isRecord } from "../../json/json.js";
import { adoptMessage } from "../../message/create-message.js";
import type { Block, Message, ToolResultBlock } from "../../message/message.js";
import type { ActingStep, ToolCallStep } from "../../middleware/middleware.js";
import { isStream } from "../../plugin-kit/ask-model.js";
import { showKind } from "../../plugin-kit/show-value.js";
import type { ModelChunk } from "../../ports/model.js";
import { WrongResult } from "./run-hook.js";

/** Checks the reply of an `onRun` or `onCall` hook. */
export function checkReply(returned: unknown): AgentReply {
  if (
    !isRecord(returned) ||
    typeof returned["reason"] !== "string" ||
    !isRecord(returned["message"])
  )
    throw new WrongResult(`${showKind(returned)} where an AgentReply is needed`);
  return returned as unknown as AgentReply;
}

/** Checks the message of an `onReasoning` hook. */
export function checkReasoned(returned: unknown): Message {
  const message = asMessage(returned);
  if (message.role !== "assistant")
    throw new WrongResult(
      `a message of role ${message.role}; the model's message is an assistant's`,
    );
  return message;
}

/** Checks the stream of an `onModelCall` hook. */
export function checkChunks(returned: unknown): AsyncIterable<ModelChunk> {
  if (!isStream(returned))
    throw new WrongResult(
      `${showKind(returned)} where an async iterable of chunks is needed; write it as async *onModelCall`,
    );
  return returned;
}

/** Checks the results of an `onActing` hook. */
export function checkActed(returned: unknown, { calls }: ActingStep): readonly ToolResultBlock[] {
  if (!Array.isArray(returned))
    throw new WrongResult(`${showKind(returned)} where a list of tool results is needed`);
  const results = asResults(returned);
  const ids = new Set(calls.map(({ id }) => id));
  for (const { toolCallId } of results)
    if (!ids.delete(toolCallId))
      throw new WrongResult(
        "two results of one tool call, or one of a call that is not in this step",
      );
  return results;
}

/** Checks the result of an `onToolCall` or `onToolResult` hook. */
export function checkResult(returned: unknown, { call }: ToolCallStep): ToolResultBlock {
  if (!isRecord(returned))
    throw new WrongResult(`${showKind(returned)} where a tool result is needed`);
  const [result] = asResults([returned]);
  if (result?.toolCallId !== call.id)
    throw new WrongResult("the result of another tool call; keep its toolCallId");
  return result;
}

/** Checks the system prompt of an `onSystemPrompt` hook. */
export function checkPrompt(returned: unknown): string {
  if (typeof returned !== "string")
    throw new WrongResult(
      `${showKind(returned)} where the system prompt is needed, changed or not`,
    );
  return returned;
}

/** Accepts whatever an `onContextDrop` hook returns: nothing is made of it. */
export function checkNothing(): void {}

/** Checks the message of an `onIncoming` hook; its id and time stay those of the message it got. */
export function checkIncoming(returned: unknown, { value }: { readonly value: Message }): Message {
  const { id, createdAt } = value;
  const message = asMessage(isRecord(returned) ? { ...returned, id, createdAt } : returned);
  if (message.role !== value.role)
    throw new WrongResult(
      `a message of role ${message.role} in place of one of role ${value.role}`,
    );
  if (
    answersOf(message) !== answersOf(value) ||
    (value.role === "tool" && message.content.length !== 1)
  )
    throw new WrongResult("a message with other tool calls or results than the one it got");
  return message;
}

/** Returns which tool calls a message makes or answers: what it says about them may change, not which they are. */
function answersOf({ content }: Message): string {
  const named = (block: Block) => {
    if (block.type === "tool_call") return [["call", block.id, block.name]];
    return block.type === "tool_result" ? [["result", block.toolCallId, block.name]] : [];
  };
  return JSON.stringify(content.flatMap(named));
}

function asMessage(value: unknown): Message {
  if (!isRecord(value)) throw new WrongResult(`${showKind(value)} where a message is needed`);
  try {
    return adoptMessage(value);
  } catch (error) {
    if (!InvalidInputError.is(error)) throw error;
    throw new WrongResult(`something else than was asked for: ${error.message}`);
  }
}

function asResults(value: readonly unknown[]): readonly ToolResultBlock[] {
  const { content } = asMessage({ id: "results", role: "tool", createdAt: "", content: value });
  if (content.some(({ type }) => type !== "tool_result"))
    throw new WrongResult("a block that is not a tool_result");
  return content as readonly ToolResultBlock[];
}
