import {
  type CompactionRequest,
  type Model,
  type ModelChunk,
  ModelError,
  type ModelRequest,
  type Usage,
} from "@holdfast/core";

/** One request to a summariser. */
export interface SummaryRequest {
  readonly model: Model;
  readonly request: Omit<ModelRequest, "signal">;
  readonly signal: AbortSignal;
  /** More text than this is no summary; the stream is left. */
  readonly maxChars: number;
  readonly emit: CompactionRequest["emit"];
  /** Whether the whole call is being stopped: then nobody waits for events any more. */
  isStopped(): boolean;
}

/** What a summariser wrote. */
export interface SummaryReply {
  readonly text: string;
  /** It went on working instead of writing, so that its text is no summary. */
  readonly calledTools: boolean;
  /** It was cut off by the model's own limit. */
  readonly isCutOff: boolean;
  readonly usage: Usage;
}

/** The summariser wrote more than any summary may have. */
export class SummaryTooLong extends Error {
  override readonly name = "SummaryTooLong";
}

/** Requests in all when the model fails in a way that is worth another try. */
const ATTEMPTS = 2;
const noUsage: Usage = { inputTokens: 0, outputTokens: 0 };

/** Asks and tells whoever watches. Throws what the model throws, and the signal's reason once it aborts. */
export async function askModel(ask: SummaryRequest): Promise<SummaryReply> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await askOnce(ask, attempt);
    } catch (error) {
      const again = ModelError.is(error) && error.retryable && attempt < ATTEMPTS;
      if (!again || ask.signal.aborted) throw error;
    }
  }
}

async function askOnce(ask: SummaryRequest, attempt: number): Promise<SummaryReply> {
  const { model, request, signal, emit } = ask;
  const began = performance.now();
  const about = { purpose: "summary", model: model.id } as const;
  signal.throwIfAborted();
  emit({ type: "model_call_start", ...about, messages: request.messages.length, attempt });
  let usage = noUsage;
  let text = "";
  let calledTools = false;
  let isCutOff = false;
  const ended = (error?: string): void =>
    emit({
      type: "model_call_end",
      ...about,
      usage,
      durationMs: performance.now() - began,
      ...(error !== undefined && { error }),
    });
  try {
    let finished = false;
    for await (const chunk of untilAborted(model.stream({ ...request, signal }), signal)) {
      if (chunk.type === "text_delta") text += chunk.text;
      if (text.length > ask.maxChars) throw new SummaryTooLong("the summary is too long");
      if (chunk.type === "tool_call") calledTools = true;
      if (chunk.type !== "finish") continue;
      usage = chunk.usage;
      finished = chunk.reason !== "error";
      isCutOff = chunk.reason === "length";
    }
    if (!finished)
      throw new ModelError(`model ${model.id} did not finish its summary`, { retryable: true });
  } catch (error) {
    if (!ask.isStopped()) ended(error instanceof Error ? error.name : "unknown");
    throw error;
  }
  ended();
  return { text, calledTools, isCutOff, usage };
}

/** The chunks until the signal aborts: a model that ignores it must not hold the call. */
async function* untilAborted(
  chunks: AsyncIterable<ModelChunk>,
  signal: AbortSignal,
): AsyncGenerator<ModelChunk> {
  const iterator = chunks[Symbol.asyncIterator]();
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
    // Not awaited: a stream that ignores its signal would never answer.
    if (!done) void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

/** Two usages added up. */
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
