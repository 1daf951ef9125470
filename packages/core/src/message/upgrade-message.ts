import { isRecord } from "../json/json.js";

/**
 * Returns a stored message in the current form: older releases wrote `toolCallId` of a tool result as `callId`.
 *
 * Anything else is returned unchanged, so that readers can pass every stored value through here.
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
