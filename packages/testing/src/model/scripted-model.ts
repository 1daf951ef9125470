import { type Model, type ModelChunk, ModelError, type ModelRequest } from "@holdfast/core";
import { pieces, type ReplyFunction, type ScriptedReply, scriptedUsage } from "./scripted-reply.js";

/** Options of {@link scriptedModel}. */
export interface ScriptedModelOptions {
  /** @default "scripted" */
  readonly id?: string | undefined;
  /** Reported, not enforced: script a `ContextOverflowError` where one is wanted. */
  readonly contextWindow?: number | undefined;
  /** @default false */
  readonly structuredOutput?: boolean | undefined;
  /** Number of requests to record, the newest. Set it in long runs: every request holds its whole context. @default all */
  readonly keepRequests?: number | undefined;
}

/** A request as a scripted model received it. */
export type RecordedRequest = Omit<ModelRequest, "signal">;

/** A model that answers from a script, offline. */
export interface ScriptedModel extends Model {
  /** Requests so far, oldest first; with `keepRequests` only the newest. */
  readonly requests: readonly RecordedRequest[];
}

/**
 * Makes a model that answers from a list, or by a function of the request.
 *
 * It streams each text in a few deltas, stops at once when the request's signal aborts (rejecting with its reason), and
 * fails with a `ModelError` when it is called more often than the list is long.
 *
 * @example
 * const model = scriptedModel([
 *   { toolCalls: [{ name: "add", input: { a: 1, b: 2 } }] },
 *   "The sum is 3.",
 * ]);
 */
export function scriptedModel(
  script: readonly ScriptedReply[] | ReplyFunction,
  options: ScriptedModelOptions = {},
): ScriptedModel {
  const id = options.id ?? "scripted";
  const replyTo = typeof script === "function" ? script : fromList(id, [...script]);
  const { keepRequests = Number.POSITIVE_INFINITY } = options;
  const requests: RecordedRequest[] = [];
  let calls = 0;
  return {
    id,
    contextWindow: options.contextWindow,
    structuredOutput: options.structuredOutput ?? false,
    requests,
    stream(request) {
      const { signal: _, ...recorded } = request;
      // The list may be the caller's live one; the messages in it are frozen.
      requests.push({ ...recorded, messages: [...request.messages] });
      if (requests.length > keepRequests) requests.shift();
      const index = calls++;
      return play(request, () => replyTo(request, index));
    },
  };
}

function fromList(id: string, replies: readonly ScriptedReply[]): ReplyFunction {
  return (_request, index) => {
    const reply = replies[index];
    if (reply === undefined)
      throw new ModelError(
        `model "${id}" has ${replies.length} scripted replies but was called ${index + 1} times; script one for every call`,
      );
    return reply;
  };
}

async function* play(
  request: ModelRequest,
  next: () => ScriptedReply | Promise<ScriptedReply>,
): AsyncGenerator<ModelChunk, void, undefined> {
  const { signal } = request;
  signal.throwIfAborted();
  const given = await abortable(Promise.resolve(next()), signal);
  const reply = typeof given === "string" ? { text: given } : given;
  if (reply.delayMs !== undefined) await delay(reply.delayMs, signal);
  for (const chunk of chunksOf(reply)) {
    signal.throwIfAborted();
    yield chunk;
  }
  signal.throwIfAborted();
  if (reply.error !== undefined) throw reply.error;
  const calls = reply.toolCalls?.length ?? 0;
  yield {
    type: "finish",
    reason: reply.finish ?? (calls > 0 ? "tool_calls" : "stop"),
    usage: reply.usage ?? scriptedUsage(request, reply),
  };
}

function* chunksOf(reply: Exclude<ScriptedReply, string>): Generator<ModelChunk> {
  for (const text of pieces(reply.thinking ?? "", reply.chunkSize))
    yield { type: "thinking_delta", text };
  for (const text of pieces(reply.text ?? "", reply.chunkSize)) yield { type: "text_delta", text };
  for (const [index, call] of (reply.toolCalls ?? []).entries())
    yield {
      type: "tool_call",
      id: call.id ?? `call_${index}`,
      name: call.name,
      input: call.input,
    };
}

/** Settles as `work` does, or rejects with the signal's reason as soon as it aborts. */
async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let stop: () => void = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Resolves after `ms`, or rejects with the signal's reason as soon as it aborts; leaves no timer behind. */
async function delay(ms: number, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await abortable(elapsed, signal);
  } finally {
    clearTimeout(timer);
  }
}
