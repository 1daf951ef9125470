import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { scaled, scriptedModel } from "@holdfast/testing";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { expect, onTestFinished, test } from "vitest";
import { chatHandler } from "../src/ai-sdk/chat-handler.js";
import type { Handler } from "../src/http/endpoint.js";
import { nodeListener } from "../src/node-listener.js";
import { openChat } from "./chat-client.js";
import { NextApp } from "./next-app.js";
import { identify, servedAgent } from "./served-agents.js";

function handlerOf(): Handler {
  return chatHandler({ agent: servedAgent(scriptedModel(() => "Noted.")), identify });
}

/** A whole turn, its history and the end of its session, as a page would. */
async function tryOut(url: string): Promise<void> {
  const chat = openChat(url);
  await chat.sendMessage({ text: "Hello." });
  expect(chat.error).toBeUndefined();
  expect(chat.messages.at(-1)?.parts.at(-1)).toMatchObject({ type: "text", text: "Noted." });
  const headers = { authorization: "alice" };
  const history = await fetch(`${url}/api/chat/trip/messages?limit=5`, { headers });
  expect(await history.json()).toHaveLength(2);
  const gone = await fetch(`${url}/api/chat/trip`, { method: "DELETE", headers });
  expect(gone.status).toBe(204);
  expect((await fetch(`${url}/api/chat`)).status).toBe(401);
}

async function listen(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("works in plain node:http", async () => {
  await tryOut(await listen(createServer(nodeListener(handlerOf()))));
});

test("works in Express, below a path and behind its body parser", async () => {
  for (const parsers of [[], [express.json()]]) {
    const app = express();
    for (const parser of parsers) app.use(parser);
    app.use("/api/chat", nodeListener(handlerOf()));
    await tryOut(await listen(createServer(app)));
  }
});

test("a request with a content type and no body passes the body parser of Express", async () => {
  const app = express().use(express.json());
  app.use("/api/chat", nodeListener(handlerOf()));
  const url = await listen(createServer(app));
  const headers = { authorization: "alice", "content-type": "application/json" };
  const stop = await fetch(`${url}/api/chat/trip/stop`, { method: "POST", headers });
  expect([stop.status, await stop.text()]).toEqual([200, '{"result":false}']);
});

test("works in Fastify, which has read the body", async () => {
  const app = fastify();
  const listener = nodeListener(handlerOf());
  app.all("/api/chat*", (request, reply) => {
    reply.hijack();
    return listener(Object.assign(request.raw, { body: request.body }), reply.raw);
  });
  onTestFinished(() => app.close());
  await app.ready();
  await app.listen({ port: 0, host: "127.0.0.1" });
  await tryOut(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`);
});

test("works in Hono", async () => {
  const app = new Hono();
  const handler = handlerOf();
  app.all("/api/chat/*", (c) => handler(c.req.raw));
  // Hono serves a Request with a Response on every platform; here over node:http.
  await tryOut(await listen(createServer(nodeListener(async (request) => app.fetch(request)))));
});

test("works as the route handlers of Next.js, which get a subclass of Request", async () => {
  class NextRequest extends Request {
    readonly nextUrl = new URL(this.url);
  }
  // app/api/chat/[[...path]]/route.ts exports these.
  const handler = handlerOf();
  const route: Readonly<Record<string, Handler>> = { GET: handler, POST: handler, DELETE: handler };
  const next: Handler = async (request) => {
    const handle = route[request.method];
    return handle ? handle(new NextRequest(request)) : new Response(null, { status: 405 });
  };
  await tryOut(await listen(createServer(nodeListener(next))));
});

// Some 340 MB are installed for it.
test.each(scaled<string>([], ["16"]))("works in a built app of Next.js %s", async (version) => {
  await using app = await NextApp.start(version);
  await tryOut(app.url);
});
