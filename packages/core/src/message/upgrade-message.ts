import { isRecord } from "../json/json.js";

/**
 * Returns a message in its present form: tool results written before `toolCallId` had its name called it `callId`.
 *
 * Anything else comes back as it is, so that what reads stored messages can pass every value through here.
 */
export function upgradeMessage(message: unknown): unknown {
  if (!isRecord(message) || !Array.isArray(message["content"])) return message;
  const content: readonly unknown[] = message["content"];
  return content.some(isOldResult) ? { ...message, content: content.map(upgradeBlock) } : message;
}

function upgradeBlock(block: unknown): unknown {
  if (!isOldResult(block)) return block;
  // Field by field, so that the id stays in its place.
  return Object.fromEntries(
    Object.entries(block).map(([key, value]) => [key === "callId" ? "toolCallId" : key, value]),
  );
}

function isOldResult(block: unknown): block is Record<string, unknown> {
  return (
    isRecord(block) &&
    block["type"] === "tool_result" &&
    "callId" in block &&
    !("toolCallId" in block)
  );
}
