import {
  ContextOverflowError,
  type FinishReason,
  type ModelChunk,
  ModelError,
} from "@holdfast/core";
import { dialectOf } from "./dialect.js";
import type { AiSdkModel } from "./language-model.js";
import { isErrorWord } from "./stream/finish-of.js";
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

function reasonOf({ finish, calledTools, raw }: ReplyReader): FinishReason {
  // Packages that do not know refusals pass them off as an empty reply.
  if (raw.refused) return "content_filter";
  if (isErrorWord(raw.finishReason ?? "")) return "error";
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

/**
 * A clean end of the stream without a reason is a reply cut off. V2 has one word for no reason and for one it does not
 * know; the provider's own chunks tell. Where there are none, a server that gave usage is taken to be one that never gives
 * reasons.
 */
function isCutOff({ finish, raw }: ReplyReader, { provider }: AiSdkModel): boolean {
  if (finish?.reason === "interrupted") return true;
  if (finish?.reason !== "unsaid") return false;
  if (raw.areChat) return raw.finishReason === undefined;
  return (
    !finish.hasUsage || ["anthropic", "openai-responses", "google"].includes(dialectOf(provider))
  );
}
