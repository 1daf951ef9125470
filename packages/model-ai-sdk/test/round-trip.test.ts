import { type Message, userMessage } from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { fromAiSdk } from "../src/index.js";
import { type Provider, providers, running } from "./providers.js";
import { chunksOf, messageOf, request, resultsFor, weather } from "./requests.js";

// biome-ignore lint/suspicious/noExplicitAny: what a server received has the provider's format.
type Any = any;

const tools = [weather];
const question = userMessage("How is the weather in Rome and in Oslo?");
const twoCalls = {
  text: "Looking.",
  toolCalls: [
    { name: "weather", input: { city: "Rome" } },
    { name: "weather", input: { city: "Oslo" } },
  ],
};

/** The ids of calls and of results in what a server received, in order. */
function idsSent(body: unknown): { calls: string[]; results: string[] } {
  const calls: string[] = [];
  const results: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const item = value as Record<string, Any>;
    if (item["type"] === "tool_use") calls.push(item["id"]);
    if (item["type"] === "tool_result") results.push(item["tool_use_id"]);
    if (item["type"] === "function_call") calls.push(item["call_id"]);
    if (item["type"] === "function_call_output") results.push(item["call_id"]);
    if (item["type"] === "function") calls.push(item["id"]);
    if (item["role"] === "tool") results.push(item["tool_call_id"]);
    if (item["functionCall"]) calls.push(item["functionCall"].id);
    if (item["functionResponse"]) results.push(item["functionResponse"].id);
    for (const one of Object.values(item)) visit(one);
  };
  const { tools: _, ...rest } = body as Record<string, unknown>;
  visit(rest);
  return { calls, results };
}

for (const provider of providers)
  describe(provider.name, () => {
    test("calls go back under the provider's own ids, with their results", async () => {
      await using run = await running(provider, [twoCalls, { text: "Sunny in both." }]);
      const chunks = await chunksOf(run.model, request({ messages: [question], tools }));
      const reply = messageOf(chunks);
      const messages = [question, reply, ...resultsFor(reply)];
      await chunksOf(run.model, request({ messages, tools }));
      const given = chunks.filter(({ type }) => type === "tool_call").map((chunk: Any) => chunk.id);
      expect(idsSent(run.server.requests[1]?.body)).toEqual({ calls: given, results: given });
    });

    test("ids that repeat in a session are unique in a request", async () => {
      const sameId = { toolCalls: [{ name: "weather", input: { city: "Rome" }, id: "call_0" }] };
      await using run = await running(provider, [sameId, sameId, { text: "Sunny." }]);
      const messages: Message[] = [question];
      for (const ids of ["first", "second"]) {
        const reply = messageOf(await chunksOf(run.model, request({ messages, tools })), ids);
        messages.push(reply, ...resultsFor(reply));
      }
      await chunksOf(run.model, request({ messages, tools }));
      const { calls, results } = idsSent(run.server.requests[2]?.body);
      expect(new Set(calls).size).toBe(2);
      expect(results).toEqual(calls);
    });

    test("the end of a reply is told with its reason and everything that went in and out", async () => {
      const usage = { input: 1_000, output: 90, cachedInput: 600, reasoning: 40 };
      const ends = [
        ["stop", "stop"],
        ["length", "length"],
        ["content_filter", "content_filter"],
      ] as const;
      await using run = await running(
        provider,
        ends.map(([finish]) => ({ text: "Hel", finish, usage })),
      );
      for (const [, reason] of ends)
        expect((await chunksOf(run.model, request())).at(-1)).toMatchObject({
          type: "finish",
          reason,
          usage: { inputTokens: 1_000, outputTokens: 90, cachedInputTokens: 600 },
        });
    });

    test("the settings, headers and provider options of the model go with every request", async () => {
      await using run = await running(provider, [{ text: "Hello." }], {
        settings: { maxOutputTokens: 321 },
        headers: { "x-tenant": "acme" },
      });
      await chunksOf(run.model, request());
      const [sent] = run.server.requests;
      expect(sent?.headers).toMatchObject({ "x-tenant": "acme" });
      expect(JSON.stringify(sent?.body)).toContain("321");
      expect(JSON.stringify(sent?.body)).toContain("Be brief.");
    });
  });

const thinkers = providers.filter(({ api }) => api !== "openai-chat" && api !== "compatible");

/** What of the reasoning a server can recognise in a request. */
function sealsSent(provider: Provider, body: Any): unknown[] {
  const parts: Any[] = (body.messages ?? body.input ?? body.contents).flatMap(
    (item: Any) => item.content ?? item.parts ?? item,
  );
  switch (provider.api) {
    case "anthropic":
      return parts
        .filter(({ type }) => /thinking/.test(type))
        .map(({ thinking, signature, data }) => ({ thinking, signature, data }));
    case "google":
      return parts.filter(({ thought }) => thought).map(({ text }) => text);
    default:
      return parts
        .filter(({ type }) => type === "reasoning")
        .map(({ id, encrypted_content, summary }) => ({ id, encrypted_content, summary }));
  }
}

describe.each(thinkers.map((provider) => [provider.name, provider] as const))(
  "thinking of %s",
  (_, provider) => {
    const thinking = { text: "Rome is in Italy." };

    test("goes back as it came, in the same turn and in later ones", async () => {
      await using run = await running(provider, [
        { thinking, ...twoCalls },
        { thinking, text: "Sunny." },
        { text: "Bye." },
      ]);
      const messages: Message[] = [question];
      const first = messageOf(await chunksOf(run.model, request({ messages, tools })), "a");
      expect(first.content[0]).toMatchObject({ type: "thinking", text: thinking.text });
      messages.push(first, ...resultsFor(first));
      messages.push(messageOf(await chunksOf(run.model, request({ messages, tools })), "b"));
      messages.push(userMessage("Thank you."));
      await chunksOf(run.model, request({ messages, tools }));
      // The servers refuse a signature they did not issue, or one on other words.
      const [, second, third] = run.server.requests.map(({ body }) => sealsSent(provider, body));
      expect(second).toHaveLength(1);
      expect(third).toHaveLength(2);
      expect(run.server.requests).toHaveLength(3);
    });

    test("is not sent to another model of the same provider, nor to another provider", async () => {
      await using run = await running(provider, [{ thinking, ...twoCalls }]);
      const first = messageOf(await chunksOf(run.model, request({ messages: [question], tools })));
      const messages = [question, first, ...resultsFor(first), userMessage("And?")];
      for (const other of thinkers.filter(({ version }) => version === provider.version)) {
        await using server = await other.start([{ text: "Sunny." }]);
        const model = fromAiSdk(other.create(server.url, other.api === "openai" ? "o3" : "other"));
        await chunksOf(model, request({ messages, tools }));
        const [sent] = server.requests;
        expect(sealsSent(other, sent?.body)).toEqual([]);
        expect(JSON.stringify(sent?.body)).not.toContain(thinking.text);
      }
    });

    test("a reply that was cut off in mid-thought does not spoil the session", async () => {
      await using run = await running(provider, [
        { thinking, text: ["Let", " me"], fault: { afterDeltas: 1, kind: "cut" } },
        { text: "Hello again." },
      ]);
      const got = [];
      try {
        for await (const chunk of run.model.stream(request())) got.push(chunk);
      } catch {
        // What had arrived stays in the conversation, as after an interrupt.
      }
      const { usage: _, ...partial } = messageOf(got);
      const messages = [question, partial as Message, userMessage("Go on.")];
      await chunksOf(run.model, request({ messages }));
      expect(run.server.requests).toHaveLength(2);
    });
  },
);

test("Anthropic's redacted thinking goes back", async () => {
  for (const provider of providers.filter(({ api }) => api === "anthropic")) {
    const thinking = { text: "Seen.", redacted: "c2VhbGVk" };
    await using run = await running(provider, [{ thinking, ...twoCalls }, { text: "Sunny." }]);
    const reply = messageOf(await chunksOf(run.model, request({ messages: [question], tools })));
    const messages = [question, reply, ...resultsFor(reply)];
    await chunksOf(run.model, request({ messages, tools }));
    const sent = sealsSent(provider, run.server.requests[1]?.body);
    expect(sent).toMatchObject([{ thinking: "Seen." }, { data: "c2VhbGVk" }]);
  }
});

test("OpenAI is asked to store nothing, unless the program wants it to", async () => {
  for (const provider of providers.filter(({ api }) => api === "openai")) {
    await using run = await running(provider, [{ text: "Hello." }]);
    await chunksOf(run.model, request());
    expect(run.server.requests[0]?.body).toMatchObject({
      store: false,
      include: ["reasoning.encrypted_content"],
    });
    const providerOptions = { openai: { store: true } };
    await using stored = await running(provider, [{ text: "Hello." }], { providerOptions });
    await chunksOf(stored.model, request());
    expect(stored.server.requests[0]?.body.store).toBe(true);
  }
});

test("files that Gemini makes become data, and go back to it", async () => {
  const files = [{ mediaType: "image/png", base64: "iVBORw0KGgo=" }];
  for (const provider of providers.filter(({ api }) => api === "google")) {
    await using run = await running(provider, [{ text: "Here.", files }, { text: "Thanks." }]);
    const reply = messageOf(await chunksOf(run.model, request()));
    expect(reply.content).toContainEqual(
      expect.objectContaining({
        type: "data",
        mediaType: "image/png",
        source: { kind: "base64", data: "iVBORw0KGgo=" },
      }),
    );
    const messages = [question, reply, userMessage("Nice.")];
    await chunksOf(run.model, request({ messages }));
    expect(JSON.stringify(run.server.requests[1]?.body)).toContain("iVBORw0KGgo=");
  }
});
