import { orTimeout } from "./or-timeout.js";

/** Settings of {@link eventStream}. */
export interface EventStreamOptions {
  /** Silence after which a comment is sent, so that proxies keep the connection. */
  readonly heartbeatMs: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Called once when the reader is gone before the end. */
  onCancel?(): void;
  /** Called with what the frames threw; the response ends there. */
  onError?(error: unknown): void;
}

const headersOfStream = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

const heartbeat = ": keep-alive\n\n";

/**
 * Returns a response of server-sent events.
 *
 * Frames are asked for one at a time, when the reader wants more: one that does not read keeps them where they are. A reader
 * that goes away ends nothing but its own response.
 */
export function eventStream(frames: AsyncIterable<string>, options: EventStreamOptions): Response {
  const encoder = new TextEncoder();
  const iterator = frames[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<string>> | undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        next ??= iterator.next();
        const arrived = await orTimeout(next, options.heartbeatMs).catch((error: unknown) => {
          options.onError?.(error);
          return { done: true as const, value: undefined };
        });
        if (arrived !== "timeout") next = undefined;
        if (arrived === "timeout") controller.enqueue(encoder.encode(heartbeat));
        else if (arrived.done) controller.close();
        else controller.enqueue(encoder.encode(arrived.value));
      },
      cancel() {
        options.onCancel?.();
        // Not awaited: a generator that waits for its next event returns when that has come.
        iterator.return?.().catch(() => undefined);
      },
    },
    { highWaterMark: 1 },
  );
  return new Response(body, { headers: { ...headersOfStream, ...options.headers } });
}

/** Returns the frame of an event. */
export function dataFrame(value: unknown): string {
  return `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;
}
