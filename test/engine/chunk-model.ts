import type { FinishReason, Model, ModelChunk, ModelRequest } from "@holdfast/core";

/** A stream, piece by piece: chunks as they come, an Error where it fails; it ends where the list ends. */
export type ScriptedStream = readonly (ModelChunk | Error)[];

/** A model that streams exactly what it is told, `finish` included or not; the last stream repeats. */
export function chunkModel(
  streams: readonly ScriptedStream[],
  options: { readonly id?: string } = {},
): Model & { readonly requests: readonly ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    id: options.id ?? "chunks",
    requests,
    async *stream(request) {
      const index = requests.push(request) - 1;
      for (const piece of streams[Math.min(index, streams.length - 1)] ?? []) {
        if (piece instanceof Error) throw piece;
        yield piece;
      }
    },
  };
}

/** A text delta. */
export function text(value: string): ModelChunk {
  return { type: "text_delta", text: value };
}

/** The chunk that ends a reply, with the tokens it took. */
export function finish(
  reason: FinishReason = "stop",
  usage: { inputTokens: number; outputTokens: number } = { inputTokens: 1, outputTokens: 1 },
): ModelChunk {
  return { type: "finish", reason, usage };
}
