import type { AiSdkVersion, UiChunk } from "./ui-chunk.js";
import type { DynamicToolPart, UiPart } from "./ui-message.js";

/** Returns chunks that a client folds to these parts: to begin a stream with what was said of its message before. */
export function partChunks(parts: readonly UiPart[], version: AiSdkVersion): UiChunk[] {
  const chunks: UiChunk[] = [];
  let isInStep = false;
  for (const [index, part] of parts.entries()) {
    if (part.type === "step-start") {
      if (isInStep) chunks.push({ type: "finish-step" });
      isInStep = true;
    }
    chunks.push(...chunksOf(part, `before-${index}`, version));
  }
  if (isInStep) chunks.push({ type: "finish-step" });
  return chunks;
}

function chunksOf(part: UiPart, id: string, version: AiSdkVersion): UiChunk[] {
  switch (part.type) {
    case "step-start":
      return [{ type: "start-step" }];
    case "text":
      return [
        { type: "text-start", id },
        { type: "text-delta", id, delta: part.text },
        { type: "text-end", id },
      ];
    case "reasoning": {
      const { id: own = id } = part;
      return [
        { type: "reasoning-start", id: own },
        { type: "reasoning-delta", id: own, delta: part.text },
        { type: "reasoning-end", id: own },
      ];
    }
    case "file":
      return [{ type: "file", mediaType: part.mediaType, url: part.url }];
    case "dynamic-tool":
      return toolChunks(part, version);
    default:
      return [{ type: part.type, data: part.data, ...(part.id !== undefined && { id: part.id }) }];
  }
}

function toolChunks(part: DynamicToolPart, version: AiSdkVersion): UiChunk[] {
  const { toolCallId, toolName, input = null } = part;
  const chunks: UiChunk[] = [
    { type: "tool-input-start", toolCallId, toolName, dynamic: true },
    { type: "tool-input-available", toolCallId, toolName, input, dynamic: true },
  ];
  if (part.approval && version >= 6)
    chunks.push({ type: "tool-approval-request", approvalId: part.approval.id, toolCallId });
  const { output = null, errorText = "" } = part;
  if (part.state === "output-available")
    chunks.push({ type: "tool-output-available", toolCallId, output, dynamic: true });
  if (part.state === "output-error")
    chunks.push({ type: "tool-output-error", toolCallId, errorText, dynamic: true });
  if (part.state === "output-denied") chunks.push({ type: "tool-output-denied", toolCallId });
  return chunks;
}
