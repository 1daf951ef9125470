import type { ChatMessage, ChatPart } from "./chat-message.js";

/**
 * Returns the parts of a message without the steps that were taken back, for example because the process died that wrote them:
 * what was streamed cannot be unsaid, so a `data-discarded` part tells how many of the steps before it do not count.
 */
export function settledParts({ parts }: ChatMessage): readonly ChatPart[] {
  const settled: ChatPart[] = [];
  for (const part of parts) {
    if (part.type !== "data-discarded") {
      settled.push(part);
      continue;
    }
    for (let steps = part.data.steps; steps > 0; steps--) {
      const start = settled.findLastIndex(({ type }) => type === "step-start");
      if (start >= 0) settled.splice(start);
    }
  }
  return settled;
}
