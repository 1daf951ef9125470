import {
  anthropicServer,
  googleServer,
  openAiChatServer,
  openAiServer,
  realErrors,
  type WireReply,
  type WireScript,
  type WireServer,
  type WireServerOptions,
} from "@holdfast/provider-rigs";
import { eventually } from "@holdfast/testing";
import { afterEach, describe, expect, test } from "vitest";
import * as apis from "./ask.js";
import { type Api, ask, eventsIn, post } from "./ask.js";

interface Provider {
  readonly name: keyof typeof realErrors;
  readonly api: Api;
  readonly start: (script: WireScript, options?: WireServerOptions) => Promise<WireServer>;
  /** A well-formed request that says something. */
  readonly request: (text: string) => object;
  /** The pieces of text among the events. */
  // biome-ignore lint/suspicious/noExplicitAny: the formats differ by provider.
  readonly texts: (events: readonly any[]) => string[];
}

const providers: readonly Provider[] = [
  {
    name: "openAi",
    api: apis.openAi,
    start: openAiServer,
    request: (text) => ({ model: "gpt-5", stream: true, input: text }),
    texts: (events) =>
      events.flatMap((e) => (e.type === "response.output_text.delta" ? [e.delta] : [])),
  },
  {
    name: "openAiChat",
    api: apis.openAiChat,
    start: openAiChatServer,
    request: (content) => ({
      model: "gpt-4o",
      stream: true,
      messages: [{ role: "user", content }],
    }),
    texts: (events) => events.flatMap((e) => e.choices?.[0]?.delta?.content || []),
  },
  {
    name: "anthropic",
    api: apis.anthropic,
    start: anthropicServer,
    request: (content) => ({
      model: "claude-sonnet-4-5",
      max_tokens: 100,
      stream: true,
      messages: [{ role: "user", content }],
    }),
    texts: (events) => events.flatMap((e) => e.delta?.text ?? []),
  },
  {
    name: "google",
    api: apis.google,
    start: googleServer,
    request: (text) => ({ contents: [{ role: "user", parts: [{ text }] }] }),
    texts: (events) => events.flatMap((e) => e.candidates?.[0]?.content.parts[0].text || []),
  },
];

describe.each(providers)("the server of $name", ({ name, api, start, request, texts }) => {
  const servers: WireServer[] = [];
  const open = async (script: WireScript, options?: WireServerOptions): Promise<WireServer> => {
    const server = await start(script, options);
    servers.push(server);
    return server;
  };
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  test("streams a text in the pieces of the script", async () => {
    const server = await open([{ text: ["Hel", "lo, ", "you"] }]);
    const { status, events } = await ask(server, api, request("Hi."));
    expect(status).toBe(200);
    expect(texts(events)).toEqual(["Hel", "lo, ", "you"]);
  });

  test("keeps every request with its path, headers and body", async () => {
    const server = await open(() => ({ text: "Yes." }));
    await ask(server, api, request("one"));
    await ask(server, api, request("two"));
    expect(server.requests.map(({ body }) => body)).toEqual([request("one"), request("two")]);
    expect(server.url + api.path).toMatch(new RegExp(`${escaped(server.requests[0]?.path)}$`));
    expect(server.requests[0]?.headers).toMatchObject(api.headers);
  });

  test("gives a function the request and counts only those it did not refuse", async () => {
    const server = await open((_request, index) => ({ text: `answer ${index}` }));
    await ask(server, api, {});
    const { events } = await ask(server, api, request("Hi."));
    expect(texts(events)).toEqual(["answer 0"]);
    expect(server.requests).toHaveLength(2);
  });

  test("answers a request too many with a 400 that says so", async () => {
    const server = await open([]);
    const { status, body } = await ask(server, api, request("Hi."));
    expect(status).toBe(400);
    expect(body.error.message).toContain("it has 0 replies but request 1 came");
  });

  test("refuses a body that is no JSON, and a path the API does not have", async () => {
    const server = await open([]);
    expect((await ask(server, api, "{")).status).toBe(400);
    expect((await ask(server, { ...api, path: "/nowhere" }, {})).status).toBe(404);
  });

  test("refuses a request without a key", async () => {
    const server = await open([]);
    const { status } = await ask(server, { ...api, headers: {} }, request("Hi."));
    expect([401, 403]).toContain(status);
  });

  test("sends each real error as the provider does", async () => {
    for (const [kind, error] of Object.entries(realErrors[name])) {
      const server = await open([{ error }]);
      const asked = await ask(server, api, request("Hi."));
      expect(asked.status, kind).toBe(error.status);
      expect(asked.body ?? asked.events[0], kind).toEqual(error.body);
      for (const [header, value] of Object.entries(error.headers ?? {}))
        expect(asked.headers.get(header), kind).toBe(value);
    }
  });

  test("refuses what does not fit into the window, and answers what does", async () => {
    const server = await open([{ text: "It fits." }], { windowTokens: 200 });
    const long = await ask(server, api, request("x".repeat(1000)));
    expect(JSON.stringify(long.body ?? long.events)).toMatch(
      /context_length_exceeded|prompt is too long: \d+ tokens > 200 maximum|exceeds the maximum number of tokens allowed \(200\)/,
    );
    expect(texts((await ask(server, api, request("x".repeat(100)))).events)).toEqual(["It fits."]);
  });

  test("breaks the connection where the script says", async () => {
    const server = await open([{ text: ["a", "b", "c"], fault: { afterDeltas: 2, kind: "cut" } }]);
    const { seen, error } = await readUntilEnd(await post(server, api, request("Hi.")));
    expect(error).toBeInstanceOf(TypeError);
    expect(texts(eventsIn(seen))).toEqual(["a", "b"]);
    await eventually(() => server.openConnections === 0);
  });

  test("sends an error event where the script says, and nothing after it", async () => {
    const fault = { afterDeltas: 1, kind: "error_event" } as const;
    const server = await open([{ text: ["a", "b"], fault }]);
    const { events } = await ask(server, api, request("Hi."));
    expect(texts(events)).toEqual(["a"]);
    expect(events.at(-1).error.message).toMatch(/overloaded|had an error/i);
  });

  test("sends the error event a script gives", async () => {
    const body = { error: { message: "mine" } };
    const fault = { afterDeltas: 0, kind: "error_event", body } as const;
    const server = await open([{ text: ["a", "b"], fault }]);
    const { events } = await ask(server, api, request("Hi."));
    expect(texts(events)).toEqual([]);
    expect(events.at(-1)).toEqual(body);
  });

  test("falls silent where the script says, and tells when the client has left", async () => {
    const server = await open([{ text: ["a", "b"], fault: { afterDeltas: 1, kind: "stall" } }]);
    const client = new AbortController();
    const response = await post(server, api, request("Hi."), client.signal);
    const seen = await readUntil(response, (text) => texts(eventsIn(text)).length === 1);
    expect(texts(eventsIn(seen))).toEqual(["a"]);
    expect(server.openConnections).toBe(1);
    const told = server.disconnected();
    client.abort();
    await told;
    expect(server.openConnections).toBe(0);
  });

  test("reports a client that left before `disconnected` was called", async () => {
    const server = await open([{ text: "a", fault: { afterDeltas: 1, kind: "stall" } }]);
    const client = new AbortController();
    await post(server, api, request("Hi."), client.signal);
    client.abort();
    await eventually(() => server.openConnections === 0);
    await server.disconnected();
  });

  test("does not take a whole answer, a cut or its own end for a client that left", async () => {
    const replies: WireReply[] = [
      { text: "whole" },
      { text: "cut", fault: { afterDeltas: 1, kind: "cut" } },
      { text: "stalled", fault: { afterDeltas: 1, kind: "stall" } },
    ];
    const server = await open(replies);
    let left = false;
    void server.disconnected().then(() => {
      left = true;
    });
    await ask(server, api, request("Hi."));
    await readUntilEnd(await post(server, api, request("Hi.")));
    const stalled = readUntilEnd(await post(server, api, request("Hi.")));
    await server.close();
    await stalled;
    expect(left).toBe(false);
  });

  test("waits before it answers, and notices a client that leaves meanwhile", async () => {
    const server = await open([{ text: "late", delayMs: 600_000 }]);
    const client = new AbortController();
    const answer = post(server, api, request("Hi."), client.signal);
    await eventually(() => server.openConnections === 1);
    client.abort();
    await expect(answer).rejects.toThrow();
    await server.disconnected();
  });
});

async function readUntilEnd(response: Response): Promise<{ seen: string; error: unknown }> {
  let seen = "";
  try {
    await readUntil(response, (text) => {
      seen = text;
      return false;
    });
    return { seen, error: undefined };
  } catch (error) {
    return { seen, error };
  }
}

async function readUntil(response: Response, done: (text: string) => boolean): Promise<string> {
  let text = "";
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
    text += read.value;
    if (done(text)) break;
  }
  return text;
}

function escaped(text = ""): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
