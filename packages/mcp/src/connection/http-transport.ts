import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCRequest,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { Endpoint } from "../options/server-settings.js";
import { boundedFetch } from "./bounded-fetch.js";
import { AnswerLost } from "./failure.js";

type Send = StreamableHTTPClientTransport["send"];

/** For how long a session is told goodbye when it is closed. */
const goodbyeMs = 2_000;

/** A request whose answer has not come. */
interface Unanswered {
  /** It will not come. */
  fail(): void;
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
  #tooLarge = false;

  constructor(endpoint: Extract<Endpoint, { kind: "http" }>, maxMessageBytes: number) {
    const timers = new Set<NodeJS.Timeout>();
    super(endpoint.url, {
      requestInit: { headers: { ...endpoint.headers } },
      fetch: boundedFetch(maxMessageBytes, () => {
        this.#tooLarge = true;
      }),
      reconnectionOptions: {
        initialReconnectionDelay: 1_000,
        maxReconnectionDelay: 30_000,
        reconnectionDelayGrowFactor: 1.5,
        maxRetries: 8,
      },
      // The transport's own way forgets all timers but the last.
      reconnectionScheduler: (reconnect, delayMs) => {
        const timer = setTimeout(() => {
          timers.delete(timer);
          reconnect();
        }, delayMs).unref();
        timers.add(timer);
        return () => {};
      },
    });
    this.#timers = timers;
    this.onmessage = (message) => {
      if (isJSONRPCResponse(message) && message.id !== undefined)
        this.#unanswered.delete(message.id);
    };
  }

  override async send(...[message, options]: Parameters<Send>): Promise<void> {
    if (Array.isArray(message)) return super.send(message, options);
    if (isJSONRPCRequest(message)) return this.#request(message, options);
    try {
      await super.send(message, options);
    } finally {
      if (isJSONRPCNotification(message) && message.method === "notifications/cancelled")
        this.#unanswered.get(message.params?.["requestId"] as number)?.stream.abort();
    }
  }

  async #request(message: JSONRPCRequest, options: Parameters<Send>[1]): Promise<void> {
    const { id } = message;
    const stream = new AbortController();
    const forget = (): void => void this.#unanswered.delete(id);
    stream.signal.addEventListener("abort", forget);
    const ended = new Promise<never>((_, reject) => {
      const fail = (): void => reject(new AnswerLost(this.#whyNoAnswer()));
      this.#unanswered.set(id, { fail, stream });
    });
    ended.catch(() => {});
    const onRequestStreamEnd = (): void => {
      this.#unanswered.get(id)?.fail();
      forget();
    };
    try {
      await super.send(message, { ...options, requestSignal: stream.signal, onRequestStreamEnd });
    } catch (error) {
      forget();
      throw error;
    }
    // The client waits for the answer by itself; of this promise it only wants to know the failure.
    if (this.#unanswered.has(id)) await ended;
  }

  /** Tells the server that the session is over, if it listens, and closes. */
  override close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #whyNoAnswer(): string {
    const tooLarge = this.#tooLarge;
    this.#tooLarge = false;
    return tooLarge ? "sent a message larger than maxMessageBytes" : "broke off its answer";
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
