import { isRecord, timeLimit } from "@holdfast/core/plugin-kit";
import { longestTimerMs } from "@holdfast/core/store-kit";
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCRequest,
  type JSONRPCResponse,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { authorizedFetch } from "../auth/authorized-fetch.js";
import type { Authorizer } from "../auth/authorizer.js";
import type { Endpoint } from "../options/server-settings.js";
import { boundedFetch, type FetchLimits } from "./bounded-fetch.js";
import type { WriteLimits } from "./bounded-writer.js";
import { AnswerLost, LimitExceeded, tooLargeWords } from "./failure.js";

type Send = StreamableHTTPClientTransport["send"];

/** Time limit for telling the server that a call or the session is over; it may not respond. */
const terminateMs = 2_000;
/** Answers to requests of the server that may wait for it to take them. */
const maxAnswers = 32;
/** Shortest delay before a stream is reopened, whatever the server asks for. */
const minReconnectMs = 100;

/** A request without an answer so far. */
interface Unanswered {
  /** The answer has arrived. */
  done(): void;
  /** The answer will not arrive, for this reason. */
  fail(words: string): void;
  /** Aborted when the answer is no longer wanted. */
  readonly stream: AbortController;
}

/**
 * Streamable HTTP that detects lost answers: a stream that ends without an answer fails its request at once instead of at its
 * timeout, and the stream of a cancelled request is closed.
 */
export class HttpTransport extends StreamableHTTPClientTransport {
  readonly #unanswered = new Map<string | number, Unanswered>();
  readonly #timers: Set<NodeJS.Timeout>;
  readonly #writeTimeoutMs: number;
  /** Answers to requests of the server that it has not taken yet. */
  #answers = 0;
  #exceeded: LimitExceeded | undefined;
  #closing: Promise<void> | undefined;

  constructor(
    endpoint: Extract<Endpoint, { kind: "http" }>,
    limits: FetchLimits & WriteLimits,
    authorizer?: Authorizer,
  ) {
    const timers = new Set<NodeJS.Timeout>();
    const bounded = boundedFetch(limits, (sent) => this.#onTooLarge(sent));
    super(endpoint.url, {
      requestInit: { headers: { ...endpoint.headers } },
      fetch: authorizer ? authorizedFetch(bounded, authorizer) : bounded,
      reconnectionOptions: {
        initialReconnectionDelay: 1_000,
        maxReconnectionDelay: 30_000,
        reconnectionDelayGrowFactor: 1.5,
        maxRetries: 8,
      },
      // The transport itself keeps only the last timer.
      reconnectionScheduler: (reconnect, delayMs) => {
        const delay = Math.min(Math.max(delayMs, minReconnectMs), longestTimerMs);
        const timer = setTimeout(() => {
          timers.delete(timer);
          reconnect();
        }, delay).unref();
        timers.add(timer);
        return () => {};
      },
    });
    this.#timers = timers;
    this.#writeTimeoutMs = limits.writeTimeoutMs;
    this.onmessage = (message) => {
      if (isJSONRPCResponse(message) && message.id !== undefined)
        this.#unanswered.get(message.id)?.done();
    };
  }

  override async send(...[message, options]: Parameters<Send>): Promise<void> {
    if (Array.isArray(message)) return super.send(message, options);
    if (isJSONRPCRequest(message)) return this.#request(message, options);
    if (isJSONRPCResponse(message)) return this.#answer(message, options);
    if (!isJSONRPCNotification(message) || message.method !== "notifications/cancelled")
      return super.send(message, options);
    using limit = timeLimit(terminateMs, { keepsAlive: false });
    try {
      await super.send(message, { ...options, requestSignal: limit.signal });
    } finally {
      this.#unanswered.get(message.params?.["requestId"] as number)?.stream.abort();
    }
  }

  /** Limit for which the connection was given up; undefined while none was exceeded. */
  get exceeded(): LimitExceeded | undefined {
    return this.#exceeded;
  }

  /** Answers a request of the server, which may ask without end and never take the answers. */
  async #answer(message: JSONRPCResponse, options: Parameters<Send>[1]): Promise<void> {
    if (this.#answers >= maxAnswers)
      throw this.#exceed(`does not take the answers to its requests: ${maxAnswers} wait for it`);
    this.#answers++;
    const words = `has not taken an answer to its request for writeTimeoutMs, ${this.#writeTimeoutMs} ms`;
    using limit = timeLimit(this.#writeTimeoutMs, { keepsAlive: false });
    try {
      await super.send(message, { ...options, requestSignal: limit.signal });
    } catch (error) {
      throw limit.signal.aborted ? this.#exceed(words) : error;
    } finally {
      this.#answers--;
    }
  }

  #exceed(words: string): LimitExceeded {
    const error = new LimitExceeded(words);
    this.#exceeded ??= error;
    this.onerror?.(error);
    return error;
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
    // The client waits for the answer itself; it uses this promise only to learn of a failure.
    try {
      await Promise.race([sent.then(() => answered), answered]);
    } finally {
      this.#unanswered.delete(message.id);
    }
  }

  /** Terminates the session at the server, if it responds, and closes. */
  override close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Fails the request with the large answer and drops the rest; without a request, ends the connection. */
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
    const terminated = this.terminateSession().catch(() => {});
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      terminated,
      new Promise((resolve) => {
        timer = setTimeout(resolve, terminateMs);
      }),
    ]);
    clearTimeout(timer);
    await super.close();
  }
}
