import { setTimeout as delay } from "node:timers/promises";
import { asContextOverflow } from "../../errors/context-overflow.js";
import { errorName } from "../../errors/error-name.js";
import { type ContextOverflowError, ModelError } from "../../errors/errors.js";
import type { EventBody } from "../../events/agent-event.js";
import type { JsonObject } from "../../json/json.js";
import { createMessage } from "../../message/create-message.js";
import type { HintBlock, Message } from "../../message/message.js";
import type { ModelCallStep } from "../../middleware/middleware.js";
import { noUsage, openStream, reportModelCall, untilAborted } from "../../plugin-kit/ask-model.js";
import { chunkProblem } from "../../plugin-kit/chunk-problem.js";
import type { RequestPrompt } from "../../ports/compactor.js";
import type { Model, ModelChunk, ModelRequest, ToolChoice, ToolSchema } from "../../ports/model.js";
import { describeSlot } from "../../slot/slot.js";
import { longestTimerMs } from "../../store-kit/deadline.js";
import { compose } from "../assemble/compose.js";
import { type CallScope, stepOf } from "../call-scope.js";
import { CallStopped } from "../session/stop-switch.js";
import { endToolCalls } from "../tools/close-calls.js";
import { compactContext } from "./compact-context.js";
import { fitReply } from "./fit-reply.js";
import { ReplyDraft } from "./reply-draft.js";

/** Parts of one request beyond the session's context. */
export interface RequestExtras {
  /** Goes to the tail of this request only. */
  readonly hints: readonly HintBlock[];
  /** Protocol messages of this call that never enter the context. */
  readonly transient: readonly Message[];
  /** Offered beside the session's tools; null offers none at all. */
  readonly tools: readonly ToolSchema[] | null;
  readonly toolChoice?: ToolChoice | undefined;
  readonly output?: JsonObject | undefined;
}

/** A question, and the prompt it is asked under. */
export interface Question extends RequestExtras {
  /** `reasoning`, or what a helper call is for. */
  readonly purpose: string;
  readonly prompt: RequestPrompt;
}

/** Asks the model, and the fallback model where the first gave nothing; each with its retries and overflow recovery. */
export async function askModels(scope: CallScope, options: Question): Promise<ReplyDraft> {
  const { model, fallbackModel } = scope.parts;
  const progress = { began: false };
  try {
    return await askWithRetries(scope, model, options, progress);
  } catch (error) {
    if (!fallbackModel || progress.began || scope.stop.kind !== null) throw error;
    return askWithRetries(scope, fallbackModel, options, progress);
  }
}

async function askWithRetries(
  scope: CallScope,
  model: Model,
  options: Question,
  progress: { began: boolean },
): Promise<ReplyDraft> {
  const { compactor, settings } = scope.parts;
  const { attempts, baseDelayMs, maxDelayMs } = settings.modelRetry;
  let recovered = false;
  for (let attempt = 1; ; attempt++) {
    const draft = new ReplyDraft(attempt);
    try {
      const request = buildRequest(scope, options.prompt, options);
      await callModel(scope, { model, request, purpose: options.purpose, draft });
      return draft;
    } catch (error) {
      progress.began ||= draft.began;
      if (scope.stop.kind !== null) {
        keepPartial(scope, draft);
        throw error;
      }
      const overflow = asContextOverflow(
        error,
        `the request to model ${model.id} on ${describeSlot(scope.slot)}`,
        settings.overflowPatterns,
      );
      if (overflow) {
        const isFinal = recovered || !compactor;
        discardAttempt(scope, draft, isFinal ? "failed" : "overflow");
        if (isFinal) throw overflow;
        recovered = true;
        await recover(scope, options.prompt, overflow);
        attempt--;
        continue;
      }
      const isFinal = !isRetryable(error) || attempt >= attempts;
      discardAttempt(scope, draft, isFinal ? "failed" : "retry");
      if (isFinal) throw error;
      const backoff = baseDelayMs * 2 ** (attempt - 1);
      const asked = ModelError.is(error) ? (error.retryAfterMs ?? 0) : 0;
      const pause = Math.min(maxDelayMs, longestTimerMs, Math.max(backoff, asked));
      await scope.stop.race(delay(pause, undefined, { signal: scope.stop.signal }));
    }
  }
}

/** Makes room after the model refused a request as too long; when there is none to be made, that is the error. */
async function recover(
  scope: CallScope,
  prompt: RequestPrompt,
  overflow: ContextOverflowError,
): Promise<void> {
  const { limitTokens } = overflow;
  const order = { cause: "overflow", force: true, prompt, limitTokens } as const;
  const { compacted } = await compactContext(scope, order);
  scope.emit({ type: "overflow_recovery", recovered: compacted });
  if (!compacted) throw overflow;
}

function isRetryable(error: unknown): boolean {
  return ModelError.is(error) && error.retryable;
}

/** Keeps what a stopped model had said so far in the conversation; its calls will not run. */
function keepPartial(scope: CallScope, draft: ReplyDraft): void {
  if (draft.isEmpty()) return;
  const { stop, parts } = scope;
  // After a shutdown the model is asked again: only the words that a person may have read are kept.
  const message = stop.kind === "shutdown" ? draft.words(parts.now()) : draft.message(parts.now());
  if (message.content.length === 0) return;
  scope.session.say(fitReply(message, parts.settings.limits.messageBytes), message);
  for (const block of message.content)
    if (block.type === "tool_call") scope.session.state.openCalls[block.id] = "pending";
  const text = "This call was not run: the reply was interrupted before it could start.";
  endToolCalls(scope, { text });
}

/** Builds a request out of the context as it is now. Nothing it adds is ever persisted. */
function buildRequest(
  scope: CallScope,
  prompt: RequestPrompt,
  extras: RequestExtras,
): ModelRequest {
  const { messages, repairs } = scope.session.state.pairedMessages();
  if (repairs.length > 0) scope.emit({ type: "repaired", repairs });
  const tail: Message[] = [...extras.transient];
  if (extras.hints.length > 0) tail.push(createMessage("user", extras.hints));
  return {
    ...prompt,
    messages: [...messages, ...tail],
    ...(extras.toolChoice !== undefined && { toolChoice: extras.toolChoice }),
    ...(extras.output !== undefined && { output: extras.output }),
    signal: scope.stop.signal,
  };
}

/** One attempt at one model. */
interface ModelAttempt {
  readonly model: Model;
  readonly request: ModelRequest;
  readonly purpose: string;
  /** Filled as chunks arrive, so that what came before a failure or a stop is not lost. */
  readonly draft: ReplyDraft;
}

/** Streams one reply into `attempt.draft` and emits its events. Throws what the model throws. */
async function callModel(scope: CallScope, attempt: ModelAttempt): Promise<void> {
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
  const failed = (problem: string, options?: ConstructorParameters<typeof ModelError>[1]) =>
    new ModelError(`model ${model.id} ${problem}`, options);
  try {
    const chunks = compose(scope.parts.hooks.onModelCall, step, () =>
      openStream(model, step.request),
    );
    for await (const chunk of untilAborted(chunks, scope.stop.signal)) {
      const problem = chunkProblem(chunk);
      if (problem !== null) throw failed(problem);
      emitChunk(scope, chunk, draft);
    }
    if (draft.finish === null)
      throw failed("ended its stream without a finish chunk", { retryable: true });
    if (draft.finish.reason === "content_filter")
      throw failed("refused to answer: its provider's content filter stopped the reply", {
        kind: "content",
      });
    if (draft.finish.reason === "error")
      throw failed("reported an error in its stream", { retryable: true });
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
