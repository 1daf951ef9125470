// One process of the deployment: an HTTP server around the agent.
// POST / with { sessionId, callId, text } answers { reason, text }; 503 means "ask another process".
import { createServer, type IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import { HoldfastError } from "@holdfast/core";
import { openStore } from "./open-store.js";
import { supportAgent } from "./support-agent.js";

/** Request to a worker. */
export interface WorkerRequest {
  readonly sessionId: string;
  /** The same when a call is repeated, so that it is answered once. */
  readonly callId: string;
  readonly text: string;
}

const [url = "", prefix = ""] = process.argv.slice(2);
const { store, close } = openStore(url, prefix);
const agent = supportAgent(store);

const server = createServer(async (request, response) => {
  try {
    const reply = await answer(request);
    // A call that a shutdown cut short is saved; a process that gets it again goes on from there.
    const status = reply.reason === "shutdown" ? 503 : 200;
    response.writeHead(status).end(JSON.stringify({ reason: reply.reason, text: reply.text }));
  } catch (error) {
    const code = HoldfastError.is(error) ? error.code : "UNKNOWN";
    response.writeHead(503).end(JSON.stringify({ code }));
  }
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`${typeof address === "object" ? address?.port : address}\n`);
});

async function answer(request: IncomingMessage) {
  const { sessionId, callId, text } = (await json(request)) as WorkerRequest;
  return agent.call(text, { userId: "customer", sessionId, callId });
}

process.once("SIGTERM", async () => {
  // No new connections; calls in flight stop at the next safe point and are saved.
  server.close();
  await agent.shutdown({ timeoutMs: 10_000 });
  server.closeAllConnections();
  await close();
});
