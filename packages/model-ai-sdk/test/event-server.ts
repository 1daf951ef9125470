import { once } from "node:events";
import { createServer } from "node:http";

/** A server whose answer is not what a provider's own would be. */
export interface EventServer extends AsyncDisposable {
  /** Give it to the provider's package as `baseURL`. */
  readonly url: string;
}

/** Answers every request with these events, and ends the stream cleanly. Text is sent as it is, anything else as JSON. */
export async function eventServer(events: readonly unknown[]): Promise<EventServer> {
  const server = createServer((incoming, response) => {
    incoming.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of events)
      response.write(`data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`);
    response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A chunk of a chat completion. */
export function chatChunk(delta: object, finish: string | null = null, fields: object = {}) {
  return {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...fields,
  };
}
