import { isRecord } from "@holdfast/core/plugin-kit";
import { longestTimerMs } from "@holdfast/core/store-kit";
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCRequest,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { Endpoint } from "../options/server-settings.js";
import { boundedFetch, tooLargeWords } from "./bounded-fetch.js";
import { AnswerLost } from "./failure.js";

type Send = StreamableHTTPClientTransport["send"];

/** For how long a server is told that a call or the session is over; it may not listen. */
const goodbyeMs = 2_000;
/** How soon a stream is asked for again, whatever the server says. */
const shortestDelayMs = 100;

/** A request whose answer has not come. */
interface Unanswered {
  /** It came. */
  done(): void;
  /** It will not come, since the server did that. */
  fail(words: string): void;
  /** Nobody wants it any more. */
  readonly stream: AbortController;
}

/**
 * Streamable HTTP that notices when an answer will not come: the stream of a request that ends without one fails that
 * request, instead of leaving it to its timeout; and the stream of one that was cancelled is closed.
 */
export class HttpTransport extends StreamableHTTPClientTransport {
  readonly #unanswered = new Map<string | number, Unanswered>();
  readonly #timers: Set<NodeJS.Timeout>;
  #closing: Promise<void> | undefined;

  constructor(endpoint: Extract<Endpoint, { kind: "http" }>, maxMessageBytes: number) {
    const timers = new Set<NodeJS.Timeout>();
    super(endpoint.url, {
      requestInit: { headers: { ...endpoint.headers } },
      fetch: boundedFetch(maxMessageBytes, (sent) => this.#onTooLarge(sent)),
      reconnectionOptions: {
        initialReconnectionDelay: 1_000,
        maxReconnectionDelay: 30_000,
        reconnectionDelayGrowFactor: 1.5,
        maxRetries: 8,
      },
      // The transport's own way forgets all timers but the last.
      reconnectionScheduler: (reconnect, delayMs) => {
        const delay = Math.min(Math.max(delayMs, shortestDelayMs), longestTimerMs);
        const timer = setTimeout(() => {
          timers.delete(timer);
          reconnect();
        }, delay).unref();
        timers.add(timer);
        return () => {};
      },
    });
    this.#timers = timers;
    this.onmessage = (message) => {
      if (isJSONRPCResponse(message) && message.id !== undefined)
        this.#unanswered.get(message.id)?.done();
    };
  }

  override async send(...[message, options]: Parameters<Send>): Promise<void> {
    if (Array.isArray(message)) return super.send(message, options);
    if (isJSONRPCRequest(message)) return this.#request(message, options);
    if (!isJSONRPCNotification(message) || message.method !== "notifications/cancelled")
      return super.send(message, options);
    try {
      await super.send(message, { ...options, requestSignal: AbortSignal.timeout(goodbyeMs) });
    } finally {
      this.#unanswered.get(message.params?.["requestId"] as number)?.stream.abort();
    }
  }

  async #request(message: JSONRPCRequest, options: Parameters<Send>[1]): Promise<void> {
    const stream = new AbortController();
    const answered = new Promise<void>((resolve, reject) => {
      const fail = (words: string): void => reject(new AnswerLost(words));
      this.#unanswered.set(message.id, { done: resolve, fail, stream });
      stream.signal.addEventListener("abort", () => resolve());
    });
    const onRequestStreamEnd = (): void =>
      this.#unanswered.get(message.id)?.fail("broke off its answer");
    const sent = super.send(message, {
      ...options,
      requestSignal: stream.signal,
      onRequestStreamEnd,
    });
    // The client waits for the answer by itself; of this promise it only wants to know the failure.
    try {
      await Promise.race([sent.then(() => answered), answered]);
    } finally {
      this.#unanswered.delete(message.id);
    }
  }

  /** Tells the server that the session is over, if it listens, and closes. */
  override close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Fails the request whose answer it is, and does not ask for the rest; elsewhere it is the end of the connection. */
  #onTooLarge(sent: RequestInit | undefined): void {
    const message: unknown = typeof sent?.body === "string" ? JSON.parse(sent.body) : null;
    const request = isRecord(message) && this.#unanswered.get(message["id"] as number);
    if (request) {
      request.fail(tooLargeWords);
      request.stream.abort();
    } else this.onerror?.(new AnswerLost(tooLargeWords));
  }

  async #close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#unanswered.clear();
    const goodbye = this.terminateSession().catch(() => {});
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      goodbye,
      new Promise((resolve) => {
        timer = setTimeout(resolve, goodbyeMs);
      }),
    ]);
    clearTimeout(timer);
    await super.close();
  }
}
