import type { Message, ModelRequest } from "@holdfast/core";
import { assistantParts } from "./assistant-parts.js";
import { userDataPart } from "./data-part.js";
import type { FilePart, PromptMessage, TextPart, ToolResultPart } from "./prompt.js";
import type { PromptScope } from "./prompt-scope.js";
import { toolResultPart } from "./tool-result-part.js";
import { wellFormedText } from "./well-formed-text.js";

/** A prompt, and the place of each message of the request in it. */
export interface BuiltPrompt {
  readonly messages: PromptMessage[];
  /** Index in the prompt by message of the request; messages of which nothing could be sent are missing. */
  readonly places: ReadonlyMap<Message, number>;
}

const omittedBeginning = "(The beginning of this conversation is not shown.)";
const continuation = "Continue.";

/**
 * Builds the prompt of a request: it starts with a user message and ends with a user message or tool results; consecutive
 * replies are merged, and all results of a reply are in one message, in the order of the calls.
 */
export function buildPrompt(request: ModelRequest, scope: PromptScope): BuiltPrompt {
  const messages: PromptMessage[] = [];
  const places = new Map<Message, number>();
  if (request.system.trim() !== "")
    messages.push({ role: "system", content: wellFormedText(request.system) });
  const first = messages.length;
  for (const message of request.messages) {
    const sizeBefore = messages.length;
    const before = messages.at(-1);
    if (message.role === "assistant") {
      const content = assistantParts(message, scope);
      if (content.length === 0) continue;
      if (sizeBefore === first) messages.push(userText(omittedBeginning));
      if (before?.role === "assistant") before.content.push(...content);
      else messages.push({ role: "assistant", content });
    } else {
      const results = resultParts(message, scope);
      if (before?.role === "tool") before.content.push(...results);
      else if (results.length > 0) messages.push({ role: "tool", content: results });
      const content = userParts(message, scope);
      if (content.length > 0) messages.push({ role: "user", content });
      if (content.length + results.length === 0) continue;
    }
    places.set(message, messages.length - 1);
  }
  sortResults(messages);
  const last = messages.at(-1)?.role;
  if (last !== "user" && last !== "tool") messages.push(userText(continuation));
  return { messages, places };
}

/** Sorts results by their calls, in whatever order they arrived: not every API matches them by id. */
function sortResults(messages: readonly PromptMessage[]): void {
  for (const [index, message] of messages.entries()) {
    const reply = messages[index - 1];
    if (message.role !== "tool" || reply?.role !== "assistant") continue;
    const order = new Map<string, number>();
    for (const part of reply.content)
      if (part.type === "tool-call") order.set(part.toolCallId, order.size);
    const place = ({ toolCallId }: ToolResultPart): number => order.get(toolCallId) ?? order.size;
    message.content.sort((one, other) => place(one) - place(other));
  }
}

/** Converts a message of the user, or of the system in its place; hints become plain text. */
function userParts({ content }: Message, scope: PromptScope): (TextPart | FilePart)[] {
  const parts: (TextPart | FilePart)[] = [];
  for (const block of content) {
    if (block.type === "data") parts.push(userDataPart(block, scope));
    else if ((block.type === "text" || block.type === "hint") && block.text.trim() !== "")
      parts.push({ type: "text", text: wellFormedText(block.text) });
  }
  return parts;
}

function resultParts({ content }: Message, scope: PromptScope): ToolResultPart[] {
  return content
    .filter((block) => block.type === "tool_result")
    .map((block) => toolResultPart(block, scope));
}

function userText(text: string): PromptMessage {
  return { role: "user", content: [{ type: "text", text }] };
}
