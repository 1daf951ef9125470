import type { Message, TextBlock, ToolResultBlock } from "@holdfast/core";
import { adoptMessage } from "@holdfast/core/plugin-kit";
import type { Prune } from "../compaction-options.js";
import { clipText } from "./clip-text.js";

/**
 * Clips old tool results to head and tail; returns the same array if that would save less than `minimumTokens`. The newest
 * `protectTokens` of results, results the model has not seen yet, and data in a result stay as they are.
 */
export function pruneResults(
  messages: readonly Message[],
  options: Prune,
  tokensOf: (message: Message) => number,
): readonly Message[] {
  const old = oldResults(messages, options.protectTokens, tokensOf);
  const expected = old.reduce((sum, index) => {
    const message = messages[index] as Message;
    return sum + tokensOf(message) * prunableShare(message, options);
  }, 0);
  // An exact number needs the clipped messages, which are not worth making if the saving is far too small.
  if (expected === 0 || expected < options.minimumTokens / 2) return messages;
  const pruned = [...messages];
  let saved = 0;
  for (const index of old) {
    const message = messages[index] as Message;
    const shorter = withShortResults(message, options);
    const difference = tokensOf(message) - tokensOf(shorter);
    if (difference <= 0) continue;
    saved += difference;
    pruned[index] = shorter;
  }
  return saved > 0 && saved >= options.minimumTokens ? pruned : messages;
}

/** Returns the indices of messages whose results are older than the newest `protectTokens` of results. */
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

/** Estimates the fraction of a message that pruning removes. */
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
