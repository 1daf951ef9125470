import type { AgentEvent, Message, PendingCall } from "@holdfast/core";
import { dataFrame } from "../http/event-stream.js";
import type { UiChunk } from "./ui-chunk.js";
import type { UiChunkEncoder } from "./ui-chunk-encoder.js";

/** Headers of a UI message stream, besides those of every event stream. */
export const chatStreamHeaders: Readonly<Record<string, string>> = {
  "x-vercel-ai-ui-message-stream": "v1",
};

/** Facts of the session that no event tells. */
export interface SessionFacts {
  /** Returns messages, among them those that the call has taken in, or had saved before it died. */
  words(): Promise<readonly Message[]>;
  /** Returns the calls that wait for an answer; null when that cannot be read. */
  pending(): Promise<readonly PendingCall[] | null>;
}

/** Yields the frames of a call's events, the last of which ends the stream. */
export async function* chatFrames(
  events: AsyncIterable<AgentEvent>,
  encoder: UiChunkEncoder,
  session: SessionFacts,
): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type === "steered" || event.type === "run_resumed")
      encoder.know(await session.words());
    if (event.type === "call_end" && event.reason === "error" && !event.background) {
      const pending = await session.pending();
      if (pending) encoder.knowPending(pending);
    }
    const chunks = encoder.encode(event);
    if (chunks.length > 0) yield frames(chunks);
    if (encoder.hasEnded) break;
  }
  yield frames(encoder.cut()) + dataFrame("[DONE]");
}

function frames(chunks: readonly UiChunk[]): string {
  return chunks.map(dataFrame).join("");
}
