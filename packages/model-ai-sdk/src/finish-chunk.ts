import {
  ContextOverflowError,
  type FinishReason,
  type ModelChunk,
  ModelError,
} from "@holdfast/core";
import { dialectOf } from "./dialect.js";
import type { AiSdkModel } from "./language-model.js";
import type { ReplyReader } from "./stream/reply-reader.js";

/**
 * The last chunk of a reply.
 *
 * @throws ModelError when the provider never said that the reply is complete
 * @throws ContextOverflowError when the window was full before the model had said anything
 */
export function finishChunk(reply: ReplyReader, model: AiSdkModel, id: string): ModelChunk {
  const { finish } = reply;
  if (finish === null || isCutOff(reply, model))
    throw new ModelError(
      `model ${id} broke off: the connection ended before the reply did; try again`,
      {
        kind: "connection",
        retryable: true,
      },
    );
  // The window was full: with nothing said, a shorter request is the only way on.
  if (finish.raw === "model_context_window_exceeded" && !reply.saidSomething)
    throw new ContextOverflowError(
      `the request to model ${id} left no room for a reply in the window`,
    );
  return { type: "finish", reason: reasonOf(reply), usage: finish.usage };
}

function reasonOf({ finish, calledTools }: ReplyReader): FinishReason {
  switch (finish?.reason) {
    case "length":
      return "length";
    case "content-filter":
      return "content_filter";
    case "error":
      return "error";
    default:
      // Some servers say "stop" after a tool call, and "tool-calls" of tools they ran themselves.
      return calledTools ? "tool_calls" : "stop";
  }
}

/** A clean end of the stream without a reason is a reply cut off, unless the server is one that never gives reasons. */
function isCutOff({ finish }: ReplyReader, { provider }: AiSdkModel): boolean {
  if (finish?.reason === "interrupted") return true;
  if (finish?.reason !== "unsaid") return false;
  return (
    !finish.hasUsage || ["anthropic", "openai-responses", "google"].includes(dialectOf(provider))
  );
}
