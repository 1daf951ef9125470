import { assistantMessage, type Block, ModelError, userMessage } from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { type Provider, providers, running } from "./providers.js";
import { chunksOf, failureOf, messageOf, request } from "./requests.js";

/** Thinking that says it is this model's, with a seal its provider never made. */
function forged(provider: Provider, owner: string): Block {
  const metadata = {
    anthropic: { anthropic: { signature: "forged" } },
    openai: { openai: { itemId: "rs_1", reasoningEncryptedContent: "forged" } },
    google: { google: { thoughtSignature: "Zm9yZ2Vk" } },
  }[provider.api as "anthropic" | "openai" | "google"];
  return { type: "thinking", text: "Hm.", providerMetadata: { [owner]: metadata } };
}

const sealing = providers.filter(({ api }) => /^(anthropic|openai|google)$/.test(api));

test.each(sealing.map((provider) => [provider.name, provider] as const))(
  "%s: thinking the provider no longer takes is left out, and the call goes on",
  async (_, provider) => {
    await using run = await running(provider, () => ({ text: "Fine." }));
    const messages = [
      userMessage("Hi."),
      assistantMessage([forged(provider, run.model.id), { type: "text", text: "Hello." }], {
        usage: { inputTokens: 1, outputTokens: 1 },
      }),
      userMessage("Still there?"),
    ];
    expect((await chunksOf(run.model, request({ messages }))).at(-1)).toMatchObject({
      reason: "stop",
    });
    const bodies = run.server.requests.map(({ body }) => JSON.stringify(body));
    expect(bodies).toHaveLength(2);
    expect(bodies[0]).toMatch(/forged|Zm9yZ2Vk/);
    expect(bodies[1]).not.toMatch(/forged|Zm9yZ2Vk/);
    expect(bodies[1]).toContain("Hello.");
  },
);

test("a reply of OpenAI that stands in the history twice is said again by its words", async () => {
  for (const provider of providers.filter(({ api }) => api === "openai")) {
    await using run = await running(provider, () => ({ text: "Fine." }));
    const said: Block = {
      type: "text",
      text: "Hello.",
      providerMetadata: { [run.model.id]: { openai: { itemId: "msg_1" } } },
    };
    const messages = [userMessage("Hi."), assistantMessage([said, said]), userMessage("Again?")];
    const chunks = await chunksOf(run.model, request({ messages }));
    expect(chunks.at(-1), provider.name).toMatchObject({ reason: "stop" });
  }
});

test("thinking that a compatible server has no field for is left out, and the call goes on", async () => {
  for (const provider of providers.filter(({ api }) => api === "compatible")) {
    const message = "property 'reasoning_content' is unsupported";
    await using run = await running(provider, ({ body }) =>
      JSON.stringify(body).includes("reasoning_content")
        ? { error: { status: 400, body: { error: { message } } } }
        : { text: "Fine.", thinking: { text: "Hm." } },
    );
    const messages = [userMessage("Hi.")];
    messages.push(messageOf(await chunksOf(run.model, request({ messages }))));
    messages.push(userMessage("Still there?"));
    await chunksOf(run.model, request({ messages }));
    expect(run.server.requests, provider.name).toHaveLength(3);
  }
});

describe("a file the model was not made for", () => {
  const zip: Block = {
    type: "data",
    mediaType: "application/zip",
    source: { kind: "base64", data: "UEsDBA==" },
    name: "all.zip",
  };
  const png: Block = {
    type: "data",
    mediaType: "image/png",
    source: { kind: "base64", data: "iVBORw0KGgo=" },
  };
  // Google's package sends what it is given, and leaves the refusal to the API.
  const picky = providers.filter(({ api }) => api !== "google");

  test.each(picky.map((provider) => [provider.name, provider] as const))(
    "is mentioned to %s, and what it takes is still shown",
    async (_, provider) => {
      await using run = await running(provider, () => ({ text: "Fine." }));
      await chunksOf(run.model, request({ messages: [userMessage([zip, png])] }));
      const body = JSON.stringify(run.server.requests.at(-1)?.body);
      expect(body).toContain("all.zip");
      expect(body).not.toContain("UEsDBA==");
      expect(body).toContain("iVBORw0KGgo=");
    },
  );

  test("is mentioned when the API refuses it", async () => {
    for (const provider of providers) {
      const body = { error: { message: "Could not process image", code: "invalid_image" } };
      await using run = await running(provider, (_, index) =>
        index === 0 ? { error: { status: 400, body } } : { text: "Fine." },
      );
      await chunksOf(run.model, request({ messages: [userMessage([png])] }));
      expect(run.server.requests, provider.name).toHaveLength(2);
      expect(JSON.stringify(run.server.requests[1]?.body)).not.toContain("iVBORw0KGgo=");
    }
  });
});

test("a refusal that nothing in the request explains is told at once", async () => {
  for (const provider of providers) {
    const body = { error: { message: "Invalid signature of the moon", code: 1 } };
    await using run = await running(provider, () => ({ error: { status: 400, body } }));
    // What is another model's was not sent.
    const thinking = sealing.includes(provider) ? [forged(provider, "another/model")] : [];
    const messages = [
      userMessage("Hi."),
      assistantMessage([...thinking, { type: "text", text: "Hello." }]),
      userMessage("Well?"),
    ];
    const error = await failureOf(chunksOf(run.model, request({ messages })));
    expect(ModelError.is(error)).toBe(true);
    expect(run.server.requests, provider.name).toHaveLength(1);
  }
});

test("a request that is refused again is not tried for ever", async () => {
  for (const provider of sealing) {
    const body = { error: { message: "Invalid signature in image file", code: 1 } };
    await using run = await running(provider, () => ({ error: { status: 400, body } }));
    const messages = [
      userMessage([
        { type: "data", mediaType: "image/png", source: { kind: "base64", data: "aGk=" } },
      ]),
      assistantMessage([forged(provider, run.model.id), { type: "text", text: "Hello." }]),
      userMessage("Well?"),
    ];
    await failureOf(chunksOf(run.model, request({ messages })));
    expect(run.server.requests.length, provider.name).toBeLessThanOrEqual(3);
  }
});
