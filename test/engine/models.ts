import type { Model, ModelChunk, ModelRequest } from "@holdfast/core";

/** The last chunk of a reply. */
export const finish: ModelChunk = {
  type: "finish",
  reason: "stop",
  usage: { inputTokens: 1, outputTokens: 1 },
};

/** A model that streams what `play` yields. */
export function modelOf(
  play: (request: ModelRequest, index: number) => AsyncIterable<ModelChunk>,
): Model {
  let index = 0;
  return { id: "test", stream: (request) => play(request, index++) };
}

/** Says `text`, tells `reached`, and then nothing any more, whatever its signal says. */
export function stallingModel(text: string, reached: () => void): Model {
  return modelOf(async function* () {
    if (text !== "") yield { type: "text_delta", text };
    reached();
    await new Promise(() => undefined);
    yield finish;
  });
}
