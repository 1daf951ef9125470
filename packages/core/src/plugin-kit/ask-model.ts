import { errorName } from "../errors/error-name.js";
import { InvalidInputError, ModelError } from "../errors/errors.js";
import type { EventBody } from "../events/agent-event.js";
import { isRecord } from "../json/json.js";
import type { Usage } from "../message/message.js";
import type { ModelCallStep } from "../middleware/middleware.js";
import type { Model, ModelChunk, ModelRequest } from "../ports/model.js";
import { uuidv7 } from "../slot/uuid.js";
import { chunkProblem } from "./chunk-problem.js";
import { showKind } from "./show-value.js";

/** Request for a text outside an agent's own steps, such as a summary. */
export interface ModelQuestion {
  readonly model: Model;
  readonly request: Omit<ModelRequest, "signal">;
  /** Why the model is called, for its events: for example `summary` or `memory_flush`. */
  readonly purpose: string;
  readonly signal: AbortSignal;
  /** Longest answer; a model that writes more is stopped. */
  readonly maxChars: number;
  /** Receives `model_call_start` and `model_call_end`. */
  emit(event: EventBody): void;
  /** Returns `true` once events are no longer wanted: the end of a failed call is not emitted then. @default never */
  isStopped?(): boolean;
}

/** Answer to a {@link ModelQuestion}. */
export interface ModelAnswer {
  readonly text: string;
  /** `true` when the model called a tool instead of only writing. */
  readonly calledTools: boolean;
  /** `true` when the model's own limit cut the answer off. */
  readonly isCutOff: boolean;
  /** `true` when the model was stopped because it wrote more than `maxChars`. */
  readonly isTooLong: boolean;
  readonly usage: Usage;
}

/** Requests in total when the model fails with a retryable error. */
const ATTEMPTS = 2;

/**
 * Asks a model for a text, with events; repeats the request once after a retryable error. Outside of any agent: a plugin uses
 * `host.askModel`, which runs the agent's `onModelCall` hooks.
 *
 * @throws ModelError of the model, and the signal's reason once it aborts, even if the model ignores the signal
 * @example
 * const { text } = await askModel({ model, request, purpose: "summary", signal, maxChars: 8_000, emit });
 */
export function askModel(question: ModelQuestion): Promise<ModelAnswer> {
  return askModelThrough(question, (_, request) => openStream(question.model, request));
}

/**
 * Asks a model for its stream.
 *
 * @throws ModelError when what it returns is none, InvalidInputError when a hook has left no request
 */
export function openStream(model: Model, request: ModelRequest): AsyncIterable<ModelChunk> {
  if (!isRecord(request) || !Array.isArray(request.messages))
    throw new InvalidInputError(
      `step.request is ${showKind(request)} without messages after the onModelCall hooks; set it to { ...step.request, … }`,
    );
  const stream: unknown = model.stream(request);
  if (isStream(stream)) return stream;
  if (stream instanceof Promise) stream.catch(() => undefined);
  throw new ModelError(
    `model ${model.id} returned ${showKind(stream)} where an async iterable of chunks is needed; write it as async *stream(request)`,
  );
}

/** Tells whether a value can be read as the stream of a model. */
export function isStream(value: unknown): value is AsyncIterable<ModelChunk> {
  return isRecord(value) && Symbol.asyncIterator in value;
}

/** Sends one attempt of a question to the model that `about` names. */
export type SendQuestion = (
  about: Pick<ModelCallStep, "requestId" | "purpose" | "model">,
  request: ModelRequest,
) => AsyncIterable<ModelChunk>;

/** Asks as {@link askModel} does; `send` makes each request. */
export async function askModelThrough(
  question: ModelQuestion,
  send: SendQuestion,
): Promise<ModelAnswer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await askOnce(question, attempt, send);
    } catch (error) {
      const again = ModelError.is(error) && error.retryable && attempt < ATTEMPTS;
      if (!again || question.signal.aborted) throw error;
    }
  }
}

async function askOnce(
  question: ModelQuestion,
  attempt: number,
  send: SendQuestion,
): Promise<ModelAnswer> {
  const { model, request, purpose, signal, maxChars, emit } = question;
  signal.throwIfAborted();
  const { about, ended } = reportModelCall({ ...question, attempt }, emit);
  let usage = noUsage;
  let text = "";
  let calledTools = false;
  let isCutOff = false;
  let isTooLong = false;
  try {
    let finished = false;
    for await (const chunk of untilAborted(
      send({ ...about, model }, { ...request, signal }),
      signal,
    )) {
      const problem = chunkProblem(chunk);
      if (problem !== null) throw new ModelError(`model ${model.id} ${problem}`);
      if (chunk.type === "text_delta") text += chunk.text;
      isTooLong = text.length > maxChars;
      if (isTooLong) break;
      if (chunk.type === "tool_call") calledTools = true;
      if (chunk.type !== "finish") continue;
      usage = chunk.usage;
      finished = chunk.reason !== "error";
      isCutOff = chunk.reason === "length";
      if (chunk.reason === "content_filter")
        throw new ModelError(`model ${model.id} refused to write a ${purpose}`, {
          kind: "content",
        });
    }
    if (!finished && !isTooLong)
      throw new ModelError(`model ${model.id} did not finish its ${purpose}`, { retryable: true });
  } catch (error) {
    if (!question.isStopped?.()) ended(usage, errorName(error));
    throw error;
  }
  ended(usage);
  return { text, calledTools, isCutOff, isTooLong, usage };
}

/** One request to a model, as its events describe it. */
export interface ReportedCall {
  readonly model: Model;
  readonly request: Pick<ModelRequest, "messages">;
  readonly purpose: string;
  readonly attempt: number;
  /** Id of the message that the reply becomes, if it enters the conversation. */
  readonly messageId?: string | undefined;
}

/** Emits `model_call_start` now, and `model_call_end` when `ended` is called. */
export function reportModelCall(
  { model, request, purpose, attempt, messageId }: ReportedCall,
  emit: (event: EventBody) => void,
): {
  readonly about: { readonly requestId: string; readonly purpose: string; readonly model: string };
  ended(usage: Usage, error?: string): void;
} {
  const began = performance.now();
  const about = { requestId: uuidv7(), purpose, model: model.id };
  const reply = messageId !== undefined && { messageId };
  emit({
    type: "model_call_start",
    ...about,
    messages: request.messages.length,
    attempt,
    ...reply,
  });
  return {
    about,
    ended: (usage, error) =>
      emit({
        type: "model_call_end",
        ...about,
        usage,
        durationMs: performance.now() - began,
        ...(reply && windowUse(model, usage)),
        ...(error !== undefined && { error }),
      }),
  };
}

/** Returns how much of its window a model has used, as far as it is known. */
function windowUse({ contextWindow }: Model, { inputTokens, outputTokens }: Usage) {
  return {
    ...(inputTokens > 0 && { contextTokens: inputTokens + outputTokens }),
    ...(contextWindow !== undefined && { contextWindow }),
  };
}

/** Yields items until the signal aborts, then throws its reason, even if the source ignores the signal. */
export async function* untilAborted<T>(
  items: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  let abort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
  });
  aborted.catch(() => undefined);
  let done = false;
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = iterator.next();
      next.catch(() => undefined);
      const result = await Promise.race([next, aborted]);
      if (result.done) {
        done = true;
        return;
      }
      yield result.value;
    }
  } finally {
    signal.removeEventListener("abort", abort);
    // Not awaited: a source that ignores its signal would never answer.
    if (!done) void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

/** Usage of no request at all: what a sum starts from. */
export const noUsage: Usage = { inputTokens: 0, outputTokens: 0 };

/** Adds up two usages. */
export function addUsage(one: Usage, other: Usage): Usage {
  const cached =
    one.cachedInputTokens === undefined && other.cachedInputTokens === undefined
      ? undefined
      : (one.cachedInputTokens ?? 0) + (other.cachedInputTokens ?? 0);
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    ...(cached !== undefined && { cachedInputTokens: cached }),
  };
}
