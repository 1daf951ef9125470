import { setTimeout as sleep } from "node:timers/promises";
import type { Model, ModelChunk, ModelRequest } from "@holdfast/core";

/** A model whose pieces of text come no faster than one in so many milliseconds; the pace may change meanwhile. */
export function paced(model: Model, paceMs: () => number): Model {
  return { ...model, stream: (request) => slowly(model, request, paceMs) };
}

async function* slowly(
  model: Model,
  request: ModelRequest,
  paceMs: () => number,
): AsyncGenerator<ModelChunk, void, undefined> {
  for await (const chunk of model.stream(request)) {
    const pause = chunk.type === "text_delta" ? paceMs() : 0;
    if (pause > 0)
      await sleep(pause, undefined, { signal: request.signal }).catch(() => {
        // The signal's own reason says more than that a timer was aborted.
        request.signal.throwIfAborted();
      });
    yield chunk;
  }
}
