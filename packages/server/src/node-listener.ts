import type { IncomingMessage, ServerResponse } from "node:http";
import type { Handler } from "./http/endpoint.js";

/** Request of `node:http`, or of a framework that put more on it. */
export interface NodeRequest extends IncomingMessage {
  /** URL before a framework took a prefix off, as Express does. */
  readonly originalUrl?: string | undefined;
  /** Body, where a framework has read it already. */
  readonly body?: unknown;
}

/**
 * Makes a listener for `node:http`, which Express takes as it is, out of a web-standard handler.
 *
 * A body that a framework has parsed already is passed on. A client that goes away cancels the response's stream, and
 * nothing else; one that reads slowly is written to as slowly.
 *
 * @example
 * createServer(nodeListener(chatHandler({ agent, identify }))).listen(3000);
 */
export function nodeListener(
  handler: Handler,
): (request: NodeRequest, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    try {
      await send(await handler(webRequest(request)), response);
    } catch {
      // The handlers of this package never reject: another one did, or the request is none.
      if (!response.headersSent) response.writeHead(500);
      response.end();
    }
    // The rest of a body that was refused: the next request of the connection waits behind it.
    request.resume();
  };
}

function webRequest(request: NodeRequest): Request {
  const headers = new Headers();
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    const [name = "", value = ""] = request.rawHeaders.slice(at, at + 2);
    if (!name.startsWith(":")) headers.append(name, value);
  }
  const { method = "GET", socket, originalUrl, url = "/" } = request;
  const scheme = "encrypted" in socket && socket.encrypted ? "https" : "http";
  const origin = `${scheme}://${headers.get("host") ?? "localhost"}`;
  const base = URL.canParse(origin) ? origin : `${scheme}://localhost`;
  const path = originalUrl ?? url;
  // Not resolved against the base: "//host/path" would name another host.
  const target = new URL(base + (path.startsWith("/") ? path : "/"));
  if (method === "GET" || method === "HEAD") return new Request(target, { method, headers });
  return new Request(target, { method, headers, body: bodyOf(request), duplex: "half" });
}

type StreamedInit = NonNullable<ConstructorParameters<typeof Request>[1]>;

function bodyOf(request: NodeRequest): NonNullable<StreamedInit["body"]> | null {
  const { body } = request;
  // A parser that found nothing has ended the stream, which counts as not read nevertheless.
  if (!request.readableEnded && (body === undefined || request.readableDidRead === false)) {
    // Read when it is asked for, and left open when it is refused: the answer needs the connection.
    const chunks = request.iterator({ destroyOnReturn: false });
    return ReadableStream.from(chunks) as unknown as NonNullable<StreamedInit["body"]>;
  }
  return typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers)
    if (name !== "set-cookie") response.setHeader(name, value);
  const cookies = answer.headers.getSetCookie();
  if (cookies.length > 0) response.setHeader("set-cookie", cookies);
  if (!answer.body) {
    response.end();
    return;
  }
  const reader = answer.body.getReader();
  // A read that waits ends with it. Not raced with a promise: that would keep every chunk until the client goes.
  const cancel = () => void reader.cancel().catch(() => undefined);
  response.once("close", cancel);
  // It may have gone while the answer was made.
  if (response.destroyed) cancel();
  else response.flushHeaders();
  for (;;) {
    const { done, value } = await reader.read();
    if (done || response.destroyed) break;
    if (!response.write(value)) await drained(response);
  }
  response.end();
}

/** Resolves when a response can take more, or its client has gone. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      response.off("drain", settle);
      response.off("close", settle);
      resolve();
    };
    response.on("drain", settle);
    response.on("close", settle);
  });
}
