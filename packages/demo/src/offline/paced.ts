import { setTimeout as sleep } from "node:timers/promises";
import type { Model, ModelChunk, ModelRequest } from "@holdfast/core";

/** Wraps a model to pause before each piece of text; `pauseMs` is asked for every piece. */
export function paced(model: Model, pauseMs: () => number): Model {
  return { ...model, stream: (request) => slowly(model, request, pauseMs) };
}

async function* slowly(
  model: Model,
  request: ModelRequest,
  pauseMs: () => number,
): AsyncGenerator<ModelChunk, void, undefined> {
  for await (const chunk of model.stream(request)) {
    const pause = chunk.type === "text_delta" ? pauseMs() : 0;
    if (pause > 0)
      await sleep(pause, undefined, { signal: request.signal }).catch(() => {
        // The signal's own reason says more than that a timer was aborted.
        request.signal.throwIfAborted();
      });
    yield chunk;
  }
}
