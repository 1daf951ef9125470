import type { AiSdkPartReader, AiSdkPartStream } from "../language-model.js";

/** A reply that stopped coming. */
export class StalledError extends Error {
  override readonly name = "StalledError";
}

/** How to ask for a reply and how long to wait for it. */
export interface PartSource {
  /** Begins the call; `signal` ends it. */
  readonly open: (signal: AbortSignal) => PromiseLike<{ readonly stream: AiSdkPartStream }>;
  readonly signal: AbortSignal;
  readonly firstChunkTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

/** How long a connection may stay open after the reply: closed cleanly it can serve the next request. */
const lingerMs = 1_000;
/** Longer timers fire at once. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * The parts of a reply, up to its `finish`; what comes after is read away. The connection is closed when `signal` aborts,
 * when nothing comes for too long and when the reader leaves, also with a model that ignores all this: nobody waits for it.
 * Only time spent waiting counts, so that a slow reader is no stall.
 *
 * @throws the signal's reason, StalledError, and what the model throws
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
  let limitMs = firstChunkTimeoutMs;
  const within = <T>(work: PromiseLike<T>): Promise<T> => before(work, limitMs, signal);
  try {
    reader = await within(opened(source, connection.signal));
    for (;;) {
      const { done, value } = await within(reader.read());
      isDone = done;
      if (done) return;
      // The package says `stream-start` by itself, as soon as it has the headers.
      if (!isPart(value, "stream-start")) limitMs = idleTimeoutMs;
      hasFinished = isPart(value, "finish");
      yield value;
      if (hasFinished) break;
    }
    isDone = await before(ended(reader), lingerMs, signal);
  } catch (error) {
    // The reply is complete; how its connection ends is nobody's concern.
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
 * Reads away what follows a reply; whether the stream came to its end in time. It looks at the clock itself: timers wait for
 * a stream that always has something ready.
 */
async function ended(reader: AiSdkPartReader): Promise<boolean> {
  const deadline = performance.now() + lingerMs;
  while (performance.now() < deadline) if ((await reader.read()).done) return true;
  return false;
}

/** A reply that comes when nobody is left to read it is cancelled. */
async function opened({ open }: PartSource, signal: AbortSignal): Promise<AiSdkPartReader> {
  const { stream } = await open(signal);
  const reader = stream.getReader();
  if (signal.aborted) void leave(reader);
  return reader;
}

/** Whether something is a stream part of this type. */
export function isPart(value: unknown, type: string): boolean {
  return typeof value === "object" && value !== null && "type" in value && value.type === type;
}

function before<T>(work: PromiseLike<T>, limitMs: number, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    const stalled = (): void => reject(new StalledError(`nothing came for ${limitMs} ms`));
    const timer = setTimeout(stalled, Math.min(limitMs, longestTimerMs));
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
    // It was given up already.
  }
}
