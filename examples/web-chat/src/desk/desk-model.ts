import { setTimeout as sleep } from "node:timers/promises";
import type { Model, ModelChunk, ModelRequest } from "@holdfast/core";
import { offlineModel } from "@holdfast/demo/offline-model";
import { scriptedModel } from "@holdfast/testing";
import { deskReply } from "./desk-script.js";

/** Small, so that a few long replies are enough to see a compaction. */
const CONTEXT_WINDOW = 8_000;
/** Characters that are streamed at a time. */
const PIECE_CHARS = 12;

/** Options of {@link deskModel}. */
export interface DeskModelOptions {
  /** Pause before each piece of a reply. @default 30 */
  readonly paceMs?: number | undefined;
}

/** Makes a model that is a script: offline, without a key, at the pace of a real one. */
export function deskModel({ paceMs = 30 }: DeskModelOptions = {}): Model {
  const script = scriptedModel((request) => ({ ...deskReply(request), chunkSize: PIECE_CHARS }), {
    id: "harbour-script",
    contextWindow: CONTEXT_WINDOW,
    keepRequests: 0,
  });
  const summarizer = offlineModel();
  return {
    ...script,
    stream: (request) =>
      isForSummary(request)
        ? summarizer.stream(request)
        : slowly(script.stream(request), request, paceMs),
  };
}

/** The last message of such a request is the instruction of the compaction. */
function isForSummary({ messages }: ModelRequest): boolean {
  const blocks = messages.at(-1)?.content ?? [];
  return blocks.some((block) => block.type === "hint" && block.source === "compaction");
}

async function* slowly(
  chunks: AsyncIterable<ModelChunk>,
  { signal }: ModelRequest,
  paceMs: number,
): AsyncGenerator<ModelChunk, void, undefined> {
  for await (const chunk of chunks) {
    if (chunk.type === "text_delta" || chunk.type === "thinking_delta")
      await sleep(paceMs, undefined, { signal });
    yield chunk;
  }
}
