import type { EventBody, PendingCall } from "@holdfast/core";

/** Returns the calls that wait after an event, out of those that waited before: one of them may be told of again. */
export function waitingAfter(
  event: EventBody,
  waiting: readonly PendingCall[],
): readonly PendingCall[] {
  switch (event.type) {
    case "tool_result":
      return waiting.filter(({ toolCallId }) => toolCallId !== event.toolCallId);
    case "permission_ask":
    case "tool_suspended": {
      const told = new Set(event.pending.map(({ toolCallId }) => toolCallId));
      return [...waiting.filter(({ toolCallId }) => !told.has(toolCallId)), ...event.pending];
    }
    default:
      return waiting;
  }
}
