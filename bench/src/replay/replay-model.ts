import type { Model, ModelChunk, ModelRequest } from "@holdfast/core";
import type { ReplayProvider } from "./replay-provider.js";
import type { Purpose } from "./token-ledger.js";

/** The scripted provider as Holdfast sees it. */
export function replayModel(provider: ReplayProvider): Model {
  return { id: "replay", contextWindow: provider.window, stream };

  async function* stream(request: ModelRequest): AsyncGenerator<ModelChunk> {
    const { text, calls, usage } = provider.complete({ ...request, purpose: purposeOf(request) });
    if (text !== "") yield { type: "text_delta", text };
    // Ids start over in every reply, as with some providers.
    for (const [index, { name, input }] of calls.entries())
      yield { type: "tool_call", id: `call_${index}`, name, input };
    yield { type: "finish", reason: calls.length > 0 ? "tool_calls" : "stop", usage };
  }
}

/** A summary is asked for by a hint of the compactor at the end. */
function purposeOf({ messages }: ModelRequest): Purpose {
  const last = messages.at(-1)?.content.at(-1);
  return last?.type === "hint" && last.source === "compaction" ? "summary" : "reasoning";
}
