import type { AgentEvent, Message } from "@holdfast/core";
import { dataFrame } from "../http/event-stream.js";
import type { UiChunk } from "./ui-chunk.js";
import type { UiChunkEncoder } from "./ui-chunk-encoder.js";

/** Headers of a UI message stream, besides those of every event stream. */
export const chatStreamHeaders: Readonly<Record<string, string>> = {
  "x-vercel-ai-ui-message-stream": "v1",
};

/**
 * Yields the frames of a call's events, the last of which ends the stream.
 *
 * @param words - returns messages of the session, among them those that the call has taken in, or had saved before it died
 */
export async function* chatFrames(
  events: AsyncIterable<AgentEvent>,
  encoder: UiChunkEncoder,
  words: () => Promise<readonly Message[]>,
): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type === "steered" || event.type === "run_resumed") encoder.know(await words());
    const chunks = encoder.encode(event);
    if (chunks.length > 0) yield frames(chunks);
    if (encoder.hasEnded) break;
  }
  yield frames(encoder.cut()) + dataFrame("[DONE]");
}

function frames(chunks: readonly UiChunk[]): string {
  return chunks.map(dataFrame).join("");
}
