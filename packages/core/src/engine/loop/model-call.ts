import { ModelError } from "../../errors/errors.js";
import type { Usage } from "../../message/message.js";
import type { ModelCallStep } from "../../middleware/middleware.js";
import type { Model, ModelChunk, ModelRequest } from "../../ports/model.js";
import { uuidv7 } from "../../slot/uuid.js";
import { compose } from "../assemble/compose.js";
import { type CallScope, stepOf } from "../call-scope.js";
import { CallStopped } from "../session/stop-switch.js";
import type { ReplyDraft } from "./reply-draft.js";

/** One attempt at one model. */
export interface ModelAttempt {
  readonly model: Model;
  readonly request: ModelRequest;
  /** `reasoning`, or what a helper call is for. */
  readonly purpose: string;
  readonly attempt: number;
  /** Filled as chunks arrive, so that what came before a failure or a stop is not lost. */
  readonly draft: ReplyDraft;
}

const noUsage: Usage = { inputTokens: 0, outputTokens: 0 };

/** Streams one reply into `attempt.draft` and tells whoever watches. Throws what the model throws. */
export async function callModel(scope: CallScope, attempt: ModelAttempt): Promise<void> {
  const { model, request, purpose, draft } = attempt;
  const began = performance.now();
  const about = { requestId: uuidv7(), purpose, model: model.id };
  scope.emit({
    type: "model_call_start",
    ...about,
    messages: request.messages.length,
    attempt: attempt.attempt,
  });
  const ended = (error?: string) => {
    const usage = draft.finish?.usage ?? noUsage;
    scope.usage.add(usage);
    scope.emit({
      type: "model_call_end",
      ...about,
      usage,
      durationMs: performance.now() - began,
      ...(error !== undefined && { error }),
    });
  };
  const step: ModelCallStep = Object.assign(stepOf(scope), { ...about, model, request });
  try {
    const chunks = compose(scope.parts.hooks.onModelCall, step, () => model.stream(step.request));
    for await (const chunk of untilStopped(scope, chunks)) emitChunk(scope, chunk, draft);
    if (draft.finish === null)
      throw new ModelError(`model ${model.id} ended its stream without a finish chunk`, {
        retryable: true,
      });
    if (draft.finish.reason === "content_filter")
      throw new ModelError(
        `model ${model.id} refused to answer: its provider's content filter stopped the reply`,
        { kind: "content" },
      );
    if (draft.finish.reason === "error")
      throw new ModelError(`model ${model.id} reported an error in its stream`, {
        retryable: true,
      });
  } catch (error) {
    ended(error instanceof CallStopped ? "stopped" : errorName(error));
    throw error;
  }
  ended();
}

function emitChunk(scope: CallScope, chunk: ModelChunk, draft: ReplyDraft): void {
  switch (chunk.type) {
    case "text_delta":
    case "thinking_delta":
      if (chunk.text !== "") scope.emit({ type: chunk.type, text: chunk.text });
      break;
    case "data": {
      const { mediaType, source, name } = chunk;
      scope.emit({ type: "data", mediaType, source, ...(name !== undefined && { name }) });
      break;
    }
    case "tool_call_delta":
    case "tool_call": {
      const { id, isNew } = draft.announce(chunk.id);
      const { name } = chunk;
      if (isNew) scope.emit({ type: "tool_call_start", toolCallId: id, name });
      if (chunk.type === "tool_call_delta")
        scope.emit({ type: "tool_call_delta", toolCallId: id, inputDelta: chunk.inputDelta });
      else scope.emit({ type: "tool_call_end", toolCallId: id, name, input: chunk.input });
      break;
    }
  }
  draft.add(chunk);
}

/** The chunks until the call is stopped: a model that hangs must not hold the call. */
async function* untilStopped(
  scope: CallScope,
  chunks: AsyncIterable<ModelChunk>,
): AsyncGenerator<ModelChunk> {
  const iterator = chunks[Symbol.asyncIterator]();
  let finished = false;
  try {
    for (;;) {
      scope.stop.check();
      const result = await scope.stop.race(iterator.next());
      if (result.done) {
        finished = true;
        return;
      }
      yield result.value;
    }
  } catch (error) {
    if (!(error instanceof CallStopped)) finished = true;
    throw error;
  } finally {
    // Not awaited: a stream that ignores its signal would never answer.
    if (!finished) void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

/** A name for events; messages of foreign errors may quote contents. */
export function errorName(error: unknown): string {
  // Not the number that a DOMException has for a code.
  if (typeof error === "object" && error !== null && "code" in error)
    if (typeof error.code === "string") return error.code;
  return error instanceof Error ? error.name : "unknown";
}
