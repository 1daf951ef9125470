import type { AgentEvent, EventBody, Message } from "@holdfast/core";
import { noUsage } from "@holdfast/core/plugin-kit";

type EventOf<T extends AgentEvent["type"]> = Extract<EventBody, { type: T }>;

/** Event that tells a part of a message. */
export type MessageEvent = EventOf<
  | "model_call_start"
  | "text_delta"
  | "thinking_delta"
  | "data"
  | "tool_call_start"
  | "tool_call_end"
  | "tool_result"
  | "model_call_end"
>;

/**
 * Returns the events that a message was told by, for a reader that missed them: of a run that died, and whose last events no feed
 * has.
 */
export function messageEvents({ id: messageId, role, content, usage }: Message): MessageEvent[] {
  const events = content.flatMap((block, index): MessageEvent[] => {
    const blockId = `${messageId}.kept.${index}`;
    switch (block.type) {
      case "text":
        return block.text === ""
          ? []
          : [{ type: "text_delta", text: block.text, messageId, blockId }];
      case "thinking":
        return block.text === ""
          ? []
          : [{ type: "thinking_delta", text: block.text, messageId, blockId }];
      case "data":
        return [{ ...block, messageId }];
      case "tool_call": {
        const { id: toolCallId, name, input } = block;
        return [
          { type: "tool_call_start", toolCallId, name, messageId },
          { type: "tool_call_end", toolCallId, name, input },
        ];
      }
      case "tool_result": {
        const { toolCallId, name, state, output } = block;
        return [{ type: "tool_result", toolCallId, name, state, output, durationMs: 0 }];
      }
      default:
        return [];
    }
  });
  if (role !== "assistant") return events;
  const { inputTokens, outputTokens } = usage ?? noUsage;
  const taken = inputTokens > 0 && { contextTokens: inputTokens + outputTokens };
  const request = { requestId: messageId, purpose: "reasoning", model: "" };
  return [
    { type: "model_call_start", ...request, messages: 0, attempt: 1, messageId },
    ...events,
    { type: "model_call_end", ...request, usage: usage ?? noUsage, durationMs: 0, ...taken },
  ];
}
