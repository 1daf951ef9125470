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
 * Returns the last chunk of a reply.
 *
 * @throws ModelError if the provider did not say that the reply is complete
 * @throws ContextOverflowError if the window was full before the model had said anything
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
  // The window was full before the model said anything: only a shorter request can help.
  if (finish.raw === "model_context_window_exceeded" && !reply.saidSomething)
    throw new ContextOverflowError(
      `the request to model ${id} left no room for a reply in the window`,
    );
  return { type: "finish", reason: reasonOf(reply), usage: finish.usage };
}

function reasonOf({ finish, calledTools, raw }: ReplyReader): FinishReason {
  // Packages that do not support refusals return an empty reply.
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
      // Some servers send "stop" after a tool call, and "tool-calls" for tools they ran themselves.
      return calledTools ? "tool_calls" : "stop";
  }
}

/**
 * Tells whether a stream that ended cleanly but without a reason was cut off. V2 has one value for no reason and for an
 * unknown one, which the provider's own chunks tell apart. Without those, a server that reported usage is assumed to be one
 * that never gives reasons.
 */
function isCutOff({ finish, raw }: ReplyReader, { provider }: AiSdkModel): boolean {
  if (finish?.reason === "interrupted") return true;
  if (finish?.reason !== "unsaid") return false;
  if (raw.areChat) return raw.finishReason === undefined;
  return (
    !finish.hasUsage || ["anthropic", "openai-responses", "google"].includes(dialectOf(provider))
  );
}
