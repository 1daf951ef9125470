import { errorName } from "../../errors/error-name.js";
import { ModelError } from "../../errors/errors.js";
import type { EventBody } from "../../events/agent-event.js";
import type { ModelCallStep } from "../../middleware/middleware.js";
import { noUsage, reportModelCall, untilAborted } from "../../plugin-kit/ask-model.js";
import type { Model, ModelChunk, ModelRequest } from "../../ports/model.js";
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
  /** Filled as chunks arrive, so that what came before a failure or a stop is not lost. */
  readonly draft: ReplyDraft;
}

/** Streams one reply into `attempt.draft` and emits its events. Throws what the model throws. */
export async function callModel(scope: CallScope, attempt: ModelAttempt): Promise<void> {
  const { model, request, draft } = attempt;
  await scope.settled();
  const { messageId } = draft;
  const reported = { ...attempt, attempt: draft.attempt, messageId };
  const { about, ended } = reportModelCall(reported, (event) => {
    if (event.type === "model_call_end") scope.usage.add(event.usage);
    scope.emit(event);
  });
  draft.requestId = about.requestId;
  const step: ModelCallStep = Object.assign(stepOf(scope), { ...about, model, request });
  try {
    const chunks = compose(scope.parts.hooks.onModelCall, step, () => model.stream(step.request));
    for await (const chunk of untilAborted(chunks, scope.stop.signal))
      emitChunk(scope, chunk, draft);
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
    const reason = error instanceof CallStopped ? "stopped" : errorName(error);
    ended(draft.finish?.usage ?? noUsage, reason);
    throw error;
  }
  ended(draft.finish?.usage ?? noUsage);
}

/** Takes back what a request has streamed: its reply does not count. Emits nothing when nothing was streamed. */
export function discardAttempt(
  { emit }: CallScope,
  draft: ReplyDraft,
  reason: Extract<EventBody, { type: "attempt_discarded" }>["reason"],
): void {
  const { requestId, messageId, attempt } = draft;
  const streamed = draft.streamed();
  if (requestId === null || streamed === null) return;
  emit({ type: "attempt_discarded", requestId, messageId, attempt, reason, ...streamed });
}

function emitChunk(scope: CallScope, chunk: ModelChunk, draft: ReplyDraft): void {
  const { messageId } = draft;
  switch (chunk.type) {
    case "text_delta":
    case "thinking_delta":
      if (chunk.text !== "")
        scope.emit({
          type: chunk.type,
          text: chunk.text,
          messageId,
          blockId: draft.blockId(chunk),
        });
      break;
    case "data": {
      const { mediaType, source, name } = chunk;
      scope.emit({
        type: "data",
        messageId,
        mediaType,
        source,
        ...(name !== undefined && { name }),
      });
      break;
    }
    case "tool_call_delta":
    case "tool_call": {
      const { id, isNew } = draft.announce(chunk.id);
      const { name } = chunk;
      if (isNew) scope.emit({ type: "tool_call_start", toolCallId: id, name, messageId });
      if (chunk.type === "tool_call_delta")
        scope.emit({ type: "tool_call_delta", toolCallId: id, inputDelta: chunk.inputDelta });
      else scope.emit({ type: "tool_call_end", toolCallId: id, name, input: chunk.input });
      break;
    }
  }
  draft.add(chunk);
}
