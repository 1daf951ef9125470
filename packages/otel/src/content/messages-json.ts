import type { Message, ToolResultBlock } from "@holdfast/core";
import { clippedJson } from "./clip.js";
import { messagePart } from "./message-parts.js";

/**
 * Messages as `gen_ai.input.messages` and `gen_ai.output.messages` have them, in at most `maxChars`: the newest that fit,
 * each of their texts at most a quarter of it.
 */
export function messagesJson(
  messages: readonly Message[],
  maxChars: number,
  finishReason?: string,
): string {
  const shown: string[] = [];
  let room = maxChars - 2;
  for (const message of messages.toReversed()) {
    const parts = message.content.map((block) => messagePart(block, Math.floor(maxChars / 4)));
    const finish = finishReason === undefined ? {} : { finish_reason: finishReason };
    let json = JSON.stringify({ role: message.role, parts, ...finish });
    if (json.length > room && shown.length === 0) {
      // Better its beginning than nothing.
      const text = JSON.parse(clippedJson(parts, Math.floor(room / 2))) as unknown;
      const part = { type: "text", content: text };
      json = JSON.stringify({ role: message.role, parts: [part], ...finish });
    }
    room -= json.length + 1;
    if (room < 0) break;
    shown.push(json);
  }
  return `[${shown.toReversed().join(",")}]`;
}

/** What a tool returned, as JSON of at most `maxChars`. */
export function outputJson({ output }: ToolResultBlock, maxChars: number): string {
  return clippedJson(
    output.map((part) => messagePart(part, Math.floor(maxChars / 2))),
    maxChars,
  );
}
