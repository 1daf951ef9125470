import { request as httpRequest } from "node:http";
import { PendingConfirmationError, StoreUnavailableError } from "@holdfast/core";
import { eventually, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { chatHandler } from "../src/ai-sdk/chat-handler.js";
import type { ChatHandlerOptions } from "../src/ai-sdk/chat-settings.js";
import { eventStream } from "../src/http/event-stream.js";
import { RateLimiter } from "../src/http/rate-limiter.js";
import { readJson } from "../src/http/read-json.js";
import { refusalOf } from "../src/http/refusal.js";
import { serve } from "./chat-client.js";
import { identify, servedAgent } from "./served-agents.js";

function handlerWith(options: Partial<ChatHandlerOptions> = {}) {
  const agent = servedAgent(scriptedModel(() => "Noted."));
  return chatHandler({ agent, identify, ...options });
}

interface Sent {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

function request({ path = "", method = "POST", headers = {}, body }: Sent = {}): Request {
  return new Request(`http://localhost/api/chat${path}`, {
    method,
    headers: { authorization: "alice", "content-type": "application/json", ...headers },
    ...(body !== undefined && { body }),
  });
}

const hello = JSON.stringify({
  id: "trip",
  messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "Hello." }] }],
});

async function refusal(response: Response): Promise<[number, string]> {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  expect(error.message).not.toBe("");
  return [response.status, error.code];
}

describe("a request", () => {
  test("whose body never ends is refused in time", async () => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"id":')),
    });
    const { headers } = request();
    const slow = new Request("http://localhost/", {
      method: "POST",
      headers,
      body,
      duplex: "half",
    });
    await expect(readJson(slow, 1_000, 20)).rejects.toMatchObject({ status: 408 });
  });

  test("without a user is refused", async () => {
    const handler = handlerWith({ identify: () => null });
    expect(await refusal(await handler(request({ body: hello })))).toEqual([
      401,
      "UNAUTHENTICATED",
    ]);
  });

  test("is refused when identify fails or returns no user, and says nothing of the reason", async () => {
    const seen: unknown[] = [];
    for (const broken of [
      () => {
        throw new Error("secret of the database");
      },
      () => "",
      () => ({ userId: 7 }) as never,
    ]) {
      const handler = handlerWith({ identify: broken, onError: (error) => seen.push(error) });
      const response = await handler(request({ body: hello }));
      const text = await response.text();
      expect(response.status).toBe(500);
      expect(text).not.toContain("secret");
      expect(text).not.toContain("at ");
    }
    expect(seen).toHaveLength(3);
  });

  test("with more than the limit is refused, whatever its length says", async () => {
    const handler = handlerWith({ maxBodyBytes: 100 });
    const body = JSON.stringify({ id: "trip", text: "x".repeat(200) });
    expect(await refusal(await handler(request({ body })))).toEqual([413, "BODY_TOO_LARGE"]);
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(60));
      },
    });
    const streamed = new Request("http://localhost/api/chat", {
      method: "POST",
      headers: { authorization: "alice", "content-type": "application/json" },
      body: endless,
      duplex: "half",
    });
    expect(await refusal(await handler(streamed))).toEqual([413, "BODY_TOO_LARGE"]);
    expect(pulled).toBeLessThan(10);
  });

  test("that a page of another site can send without asking is refused", async () => {
    const handler = handlerWith();
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
      const headers = { "content-type": type };
      expect(await refusal(await handler(request({ headers, body: hello })))).toEqual([
        415,
        "CONTENT_TYPE",
      ]);
      const stop = await handler(request({ path: "/trip/stop", headers, body: "" }));
      expect(stop.status).toBe(415);
    }
  });

  test.each([
    ["not JSON", "{", 400],
    ["no chat", "[]", 400],
    ["no id", JSON.stringify({ messages: [] }), 400],
    ["an id with a slash", hello.replace("trip", "../../etc"), 400],
    ["an id that is too long", hello.replace("trip", "x".repeat(129)), 400],
    ["an empty message", hello.replace("Hello.", ""), 400],
    [
      "a file of this machine",
      hello.replace(
        '{"type":"text","text":"Hello."}',
        '{"type":"file","mediaType":"a/b","url":"file:///etc/passwd"}',
      ),
      400,
    ],
    ["an answer to nothing", hello.replace('"user"', '"assistant"'), 409],
  ])("with %s is refused", async (_, body, status) => {
    const response = await handlerWith()(request({ body }));
    expect((await refusal(response))[0]).toBe(status);
  });

  test("for another path is not found", async () => {
    const handler = handlerWith();
    for (const path of ["x", "/trip/messages/more", "/trip/unknown", "/%ff/messages"])
      expect((await handler(request({ path, method: "GET" }))).status).toBeGreaterThanOrEqual(400);
    const put = await handler(request({ path: "/trip", method: "PUT", body: hello }));
    expect(put.status).toBe(404);
  });
});

test("users share no session, though they name the same", async () => {
  const model = scriptedModel(() => "Noted.");
  const handler = chatHandler({ agent: servedAgent(model), identify });
  await (await handler(request({ body: hello }))).text();
  const bob = { authorization: "bob" };
  await (await handler(request({ headers: bob, body: hello.replace("Hello.", "Who?") }))).text();
  expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toContain("Hello.");
  const messages = await handler(request({ path: "/trip/messages", method: "GET", headers: bob }));
  expect(await messages.text()).not.toContain("Hello.");
});

test("pages of other sites are let in only where their origin is allowed", async () => {
  const headers = { origin: "https://shop.example", "access-control-request-method": "POST" };
  const closed = await handlerWith()(request({ method: "OPTIONS", headers }));
  expect(closed.headers.get("access-control-allow-origin")).toBeNull();
  const open = handlerWith({ allowOrigins: ["https://shop.example"] });
  const preflight = await open(request({ method: "OPTIONS", headers }));
  expect(preflight.headers.get("access-control-allow-origin")).toBe("https://shop.example");
  expect(preflight.headers.get("access-control-allow-methods")).toContain("POST");
  const other = await open(request({ method: "GET", headers: { origin: "https://evil.example" } }));
  expect(other.headers.get("access-control-allow-origin")).toBeNull();
  expect(other.headers.get("vary")).toBe("Origin");
});

test("a rule about origins that throws lets nobody in, and is reported", async () => {
  const seen: unknown[] = [];
  const handler = handlerWith({
    allowOrigins: () => {
      throw new Error("broken");
    },
    onError: (error) => seen.push(error),
  });
  const headers = { origin: "https://shop.example", authorization: "alice" };
  const response = await handler(request({ method: "GET", headers }));
  expect(response.status).toBe(200);
  expect(response.headers.get("access-control-allow-origin")).toBeNull();
  expect(seen).toEqual([new Error("broken")]);
});

test("a user who asks too often waits, and the others do not", async () => {
  const handler = handlerWith({ rateLimit: { perMinute: 60, burst: 3 } });
  const list = (user: string) =>
    handler(request({ method: "GET", headers: { authorization: user } }));
  for (let count = 0; count < 3; count++) expect((await list("alice")).status).toBe(200);
  const refused = await list("alice");
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  expect((await list("bob")).status).toBe(200);
});

test("the rate limit fills again with time, and counts no more users than it may", () => {
  let now = 0;
  const limiter = new RateLimiter({ perMinute: 60, burst: 2, maxUsers: 2 }, () => now);
  limiter.take("alice");
  limiter.take("alice");
  expect(() => limiter.take("alice")).toThrow(/Too many/);
  now = 1_000;
  limiter.take("alice");
  expect(() => limiter.take("alice")).toThrow(/Too many/);
  limiter.take("bob");
  limiter.take("carol");
  // Forgotten as the one seen longest ago, she begins anew.
  limiter.take("alice");
});

test("errors become statuses, and their messages stay here", () => {
  const waits = new PendingConfirmationError("session trip waits for pay", ["c"]);
  expect(refusalOf(waits)).toMatchObject({ status: 409, code: "PENDING_CONFIRMATION" });
  const down = refusalOf(new StoreUnavailableError("redis at 10.0.0.7 is away"));
  expect(down).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
  expect(down.message).not.toContain("10.0.0.7");
  expect(refusalOf(new Error("secret"))).toMatchObject({ status: 500, code: "INTERNAL" });
  expect(refusalOf(new Error("secret")).message).not.toContain("secret");
  expect(refusalOf(waits, () => "Bitte erst antworten.").message).toBe("Bitte erst antworten.");
});

test("wrong options are refused when the handler is made", () => {
  const agent = servedAgent(scriptedModel([]));
  expect(() => chatHandler({ agent } as never)).toThrow(/identify/);
  expect(() => chatHandler({ agent, identify, version: 4 as never })).toThrow(/5, 6 or 7/);
  expect(() => chatHandler({ agent, identify, rateLimt: false } as never)).toThrow(/rateLimit/);
});

describe("an event stream", () => {
  test("sends a comment when nothing happens", async () => {
    async function* frames() {
      await new Promise<never>(() => undefined);
      yield "";
    }
    const response = eventStream(frames(), { heartbeatMs: 5 });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    for (let beat = 0; beat < 2; beat++) {
      const { value } = await reader.read();
      expect(new TextDecoder().decode(value)).toBe(": keep-alive\n\n");
    }
    expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
    expect(response.headers.get("x-accel-buffering")).toBe("no");
  });

  test("makes no frames for a reader that does not read", async () => {
    let made = 0;
    async function* frames() {
      for (;;) yield `data: ${made++} ${"x".repeat(100_000)}\n\n`;
    }
    const url = await serve(async () => eventStream(frames(), { heartbeatMs: 1_000 }));
    const client = httpRequest(url, (response) => response.pause());
    client.end();
    await eventually(() => made > 5);
    let before = -1;
    await eventually(
      () => {
        const isStill = made === before;
        before = made;
        return isStill;
      },
      { intervalMs: 300 },
    );
    // What the sockets of both sides hold, and no more.
    expect(made).toBeLessThan(200);
    client.destroy();
  });

  test("tells who makes the frames that the reader has gone", async () => {
    let isGone = false;
    async function* frames() {
      for (;;) {
        yield "data: x\n\n";
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    const onCancel = () => {
      isGone = true;
    };
    const url = await serve(async () => eventStream(frames(), { heartbeatMs: 1_000, onCancel }));
    const client = httpRequest(url, (response) => response.once("data", () => client.destroy()));
    client.on("error", () => undefined);
    client.end();
    await eventually(() => isGone);
  });
});
