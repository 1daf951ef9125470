import { longestTimerMs } from "@holdfast/core/store-kit";
import type { AiSdkPartReader, AiSdkPartStream } from "../language-model.js";

/** A reply that stopped arriving. */
export class StalledError extends Error {
  override readonly name = "StalledError";
}

/** Request for a reply, and its time limits. */
export interface PartSource {
  /** Starts the call; `signal` ends it. */
  readonly open: (signal: AbortSignal) => PromiseLike<{ readonly stream: AiSdkPartStream }>;
  readonly signal: AbortSignal;
  readonly firstChunkTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

/** Time a connection may stay open after the reply: closed cleanly, it can be reused for the next request. */
const lingerMs = 1_000;

/**
 * Yields the parts of a reply up to its `finish`; anything after that is discarded. The connection is closed when `signal`
 * aborts, when nothing arrives for too long, and when the reader returns early; a model that ignores this is not waited for.
 * Only time spent waiting counts, so that a slow reader is not a stall.
 *
 * @throws the signal's reason, StalledError, and whatever the model throws
 */
export async function* readParts(source: PartSource): AsyncGenerator<unknown> {
  const { signal, firstChunkTimeoutMs, idleTimeoutMs } = source;
  const connection = new AbortController();
  const forward = (): void => connection.abort(signal.reason);
  signal.throwIfAborted();
  signal.addEventListener("abort", forward, { once: true });
  let reader: AiSdkPartReader | undefined;
  let isDone = false;
  let hasFinished = false;
  let limit: Limit = { option: "firstChunkTimeoutMs", ms: firstChunkTimeoutMs };
  const within = <T>(work: PromiseLike<T>): Promise<T> => before(work, limit, signal);
  try {
    reader = await within(opened(source, connection.signal));
    for (;;) {
      const { done, value } = await within(reader.read());
      isDone = done;
      if (done) return;
      // The package sends `stream-start` itself, as soon as it has the headers.
      if (!isPart(value, "stream-start")) limit = { option: "idleTimeoutMs", ms: idleTimeoutMs };
      hasFinished = isPart(value, "finish");
      yield value;
      if (hasFinished) break;
    }
    isDone = await before(ended(reader), { ms: lingerMs }, signal);
  } catch (error) {
    // The reply is complete, so it does not matter how its connection ends.
    if (!hasFinished || signal.aborted) throw error;
  } finally {
    signal.removeEventListener("abort", forward);
    if (!isDone) {
      connection.abort(new DOMException("the reply is no longer wanted", "AbortError"));
      if (reader) void leave(reader);
    }
  }
}

/**
 * Discards everything after a reply; returns whether the stream ended in time. It checks the clock itself, because a stream
 * that always has data ready keeps timers from firing.
 */
async function ended(reader: AiSdkPartReader): Promise<boolean> {
  const deadline = performance.now() + lingerMs;
  while (performance.now() < deadline) if ((await reader.read()).done) return true;
  return false;
}

/** Opens the stream; cancels it at once if the reader has left in the meantime. */
async function opened({ open }: PartSource, signal: AbortSignal): Promise<AiSdkPartReader> {
  const { stream } = await open(signal);
  const reader = stream.getReader();
  if (signal.aborted) void leave(reader);
  return reader;
}

/** Tells whether a value is a stream part of this type. */
function isPart(value: unknown, type: string): boolean {
  return typeof value === "object" && value !== null && "type" in value && value.type === type;
}

/** Time limit, and the option that sets it. */
interface Limit {
  readonly ms: number;
  readonly option?: "firstChunkTimeoutMs" | "idleTimeoutMs" | undefined;
}

function stall({ ms, option }: Limit): StalledError {
  const what =
    option === "firstChunkTimeoutMs" ? "it did not begin to answer" : "its reply stopped";
  const advice = option === undefined ? "" : `; if it may take longer, raise ${option}`;
  return new StalledError(`${what}, nothing arrived for ${ms} ms${advice}`);
}

function before<T>(work: PromiseLike<T>, limit: Limit, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    const timer = setTimeout(() => reject(stall(limit)), Math.min(limit.ms, longestTimerMs));
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    };
    work.then(
      (value) => {
        settle();
        resolve(value);
      },
      (error: unknown) => {
        settle();
        reject(error);
      },
    );
  });
}

async function leave(reader: AiSdkPartReader): Promise<void> {
  try {
    await reader.cancel();
  } catch {
    // The stream has failed already.
  }
}
