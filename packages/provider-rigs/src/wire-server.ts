import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { Exchange } from "./exchange.js";
import type { WireProtocol, WireRequest } from "./wire-protocol.js";
import { tokensIn, type WireFailure, type WireReply } from "./wire-reply.js";

/** The replies in order, or a function of the request; `index` counts the requests that were not refused, from 0. */
export type WireScript =
  | readonly WireReply[]
  | ((request: WireRequest, index: number) => WireReply);

/** Options of every provider's server. */
export interface WireServerOptions {
  /** Requests of more tokens, at four characters of the body each, are refused as too long. @default none */
  readonly windowTokens?: number | undefined;
}

/** A server on loopback that speaks a provider's wire format and answers from a script. */
export interface WireServer extends AsyncDisposable {
  /** Give it to the provider's package as `baseURL`. */
  readonly url: string;
  /** Every request with a JSON body so far, refused ones included, oldest first. */
  readonly requests: readonly WireRequest[];
  /** Connections with a request that is being answered. */
  readonly openConnections: number;
  /** Resolves when a client closed a connection in mid-answer: one not reported yet, or the next one. */
  disconnected(): Promise<void>;
  /** Breaks what is open and frees the port. */
  close(): Promise<void>;
}

/** Starts a server that speaks a protocol. */
export async function wireServer(
  protocol: WireProtocol,
  script: WireScript,
  options: WireServerOptions = {},
): Promise<WireServer> {
  const server = new LoopbackServer(protocol, script, options);
  await server.listen();
  return server;
}

class LoopbackServer implements WireServer {
  readonly requests: WireRequest[] = [];
  readonly #protocol: WireProtocol;
  readonly #script: WireScript;
  readonly #windowTokens: number;
  readonly #server: Server;
  readonly #disconnects = new Disconnects();
  readonly #exchanges = new Set<Exchange>();
  #answered = 0;

  constructor(protocol: WireProtocol, script: WireScript, options: WireServerOptions) {
    this.#protocol = protocol;
    this.#script = typeof script === "function" ? script : [...script];
    this.#windowTokens = options.windowTokens ?? Number.POSITIVE_INFINITY;
    this.#server = createServer((incoming, response) => {
      const exchange = new Exchange(incoming, response, (left) => {
        this.#exchanges.delete(exchange);
        if (left) this.#disconnects.report();
      });
      this.#exchanges.add(exchange);
      this.#answer(exchange, incoming).catch((error: unknown) => {
        // A failure because the client left is reported by `disconnected`; any other is the script's own error.
        if (!exchange.gone.aborted) exchange.fail(this.#protocol.invalid(`script: ${error}`));
      });
    });
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  get url(): string {
    const address = this.#server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    return `http://127.0.0.1:${port}${this.#protocol.basePath}`;
  }

  get openConnections(): number {
    return this.#exchanges.size;
  }

  disconnected(): Promise<void> {
    return this.#disconnects.next();
  }

  async close(): Promise<void> {
    for (const exchange of this.#exchanges) exchange.cut();
    if (!this.#server.listening) return;
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #answer(exchange: Exchange, incoming: IncomingMessage): Promise<void> {
    const protocol = this.#protocol;
    const text = await exchange.text();
    const path = incoming.url ?? "/";
    const body = parsed(text);
    if (body === undefined) return exchange.fail(protocol.invalid("could not parse the JSON body"));
    const request: WireRequest = { path, headers: headersOf(incoming), body };
    this.requests.push(request);
    const streams = protocol.streams(request);
    const refusal = this.#refusal(request, text.length);
    if (refusal !== undefined) return this.#fail(exchange, refusal, streams);

    const reply = this.#replyTo(request);
    if (reply.delayMs !== undefined)
      await wait(reply.delayMs, undefined, { signal: exchange.gone });
    if (reply.error !== undefined) return this.#fail(exchange, reply.error, streams);
    const answer = protocol.answer(reply, request, text.length);
    if (streams) return exchange.stream(protocol, answer, reply.fault);
    exchange.json(200, answer.body);
    answer.delivered?.();
  }

  async #fail(exchange: Exchange, failure: WireFailure, streams: boolean): Promise<void> {
    const { status, body } = failure;
    if (streams && status === 200)
      await exchange.stream(this.#protocol, { events: [{ data: body }], body });
    else exchange.fail(failure);
  }

  #refusal(request: WireRequest, chars: number): WireFailure | undefined {
    const protocol = this.#protocol;
    if (!request.path.startsWith(protocol.basePath) || !protocol.serves(request.path))
      return { ...protocol.invalid(`no such path: ${request.path}`), status: 404 };
    const refusal = protocol.refusal(request);
    if (refusal !== undefined) return refusal;
    const tokens = tokensIn(chars);
    return tokens > this.#windowTokens
      ? protocol.overflow(tokens, this.#windowTokens, protocol.streams(request))
      : undefined;
  }

  #replyTo(request: WireRequest): WireReply {
    const index = this.#answered++;
    if (typeof this.#script === "function") return this.#script(request, index);
    const reply = this.#script[index];
    if (reply === undefined)
      throw new Error(`it has ${this.#script.length} replies but request ${index + 1} came`);
    return reply;
  }
}

/** Reports clients that left, each to one listener, in order. */
class Disconnects {
  #unreported = 0;
  readonly #waiting: (() => void)[] = [];

  report(): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#unreported += 1;
    else waiting();
  }

  next(): Promise<void> {
    if (this.#unreported > 0) {
      this.#unreported -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) flat[name] = String(value);
  return flat;
}
