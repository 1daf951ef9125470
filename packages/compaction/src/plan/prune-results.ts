import type { Message, TextBlock, ToolResultBlock } from "@holdfast/core";
import { adoptMessage } from "@holdfast/core/plugin-kit";
import type { Prune } from "../compaction-options.js";
import { clipText } from "./clip-text.js";

/**
 * The messages with old tool results clipped to head and tail; the same array where less than `minimumTokens` would be
 * won. The newest `protectTokens` of results are never touched, nor what the model has not seen yet; data in a result
 * stays.
 */
export function pruneResults(
  messages: readonly Message[],
  options: Prune,
  tokensOf: (message: Message) => number,
): readonly Message[] {
  const old = oldResults(messages, options.protectTokens, tokensOf);
  const hoped = old.reduce((sum, index) => {
    const message = messages[index] as Message;
    return sum + tokensOf(message) * prunableShare(message, options);
  }, 0);
  // The exact number needs the shortened messages: not worth making when it will not be enough.
  if (hoped === 0 || hoped < options.minimumTokens / 2) return messages;
  const pruned = [...messages];
  let won = 0;
  for (const index of old) {
    const message = messages[index] as Message;
    const shorter = withShortResults(message, options);
    const difference = tokensOf(message) - tokensOf(shorter);
    if (difference <= 0) continue;
    won += difference;
    pruned[index] = shorter;
  }
  return won > 0 && won >= options.minimumTokens ? pruned : messages;
}

/** Indices of messages with results behind the newest `protectTokens` of them. */
function oldResults(
  messages: readonly Message[],
  protectTokens: number,
  tokensOf: (message: Message) => number,
): number[] {
  const lastReply = messages.findLastIndex(({ role }) => role === "assistant");
  let passed = 0;
  const old: number[] = [];
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index] as Message;
    if (!message.content.some(({ type }) => type === "tool_result")) continue;
    passed += tokensOf(message);
    if (passed > protectTokens && index < lastReply) old.push(index);
  }
  return old;
}

/** About which part of a message would go. */
function prunableShare(message: Message, { maxResultChars, exclude }: Prune): number {
  let chars = 1;
  let going = 0;
  for (const block of message.content) {
    if (block.type !== "tool_result") continue;
    const length = textLength(block);
    chars += length;
    if (length > maxResultChars && !exclude.includes(block.name)) going += length - maxResultChars;
  }
  return going / chars;
}

function textLength({ output }: ToolResultBlock): number {
  return output.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0);
}

function withShortResults(message: Message, options: Prune): Message {
  let changed = false;
  const content = message.content.map((block) => {
    if (block.type !== "tool_result" || options.exclude.includes(block.name)) return block;
    const shorter = shortened(block, options.maxResultChars);
    changed ||= shorter !== block;
    return shorter;
  });
  return changed ? adoptMessage({ ...message, content }) : message;
}

function shortened(result: ToolResultBlock, maxChars: number): ToolResultBlock {
  if (textLength(result) <= maxChars) return result;
  const texts = result.output.filter((part) => part.type === "text");
  const text = texts.map((part) => part.text).join("\n");
  const between = `\n[... ${text.length - maxChars} characters pruned; the conversation log has them ...]\n`;
  const preview: TextBlock = { type: "text", text: clipText(text, maxChars, between) };
  const data = result.output.filter((part) => part.type !== "text");
  const metadata = { ...result.metadata, prunedChars: text.length };
  return { ...result, output: [preview, ...data], metadata };
}
