import { inspect } from "node:util";
import { ContextOverflowError, userMessage } from "@holdfast/core";
import { realErrors, type WireFailure } from "@holdfast/provider-rigs";
import { expect, test } from "vitest";
import { type Provider, providerNamed, providers, running } from "./providers.js";
import { chunksOf, failureOf, request } from "./requests.js";

const secret = "the secret plan of user 7";

async function failure(provider: Provider, error: WireFailure): Promise<unknown> {
  await using run = await running(provider, [{ error }]);
  const messages = [userMessage(secret)];
  return await failureOf(chunksOf(run.model, request({ messages })));
}

function errorsOf({ api }: Provider) {
  if (api === "anthropic") return realErrors.anthropic;
  if (api === "google") return realErrors.google;
  return api === "openai" ? realErrors.openAi : realErrors.openAiChat;
}

const kinds = {
  overflow: { code: "CONTEXT_OVERFLOW" },
  rateLimit: { kind: "rate_limit", retryable: true, retryAfterMs: 2_000, statusCode: 429 },
  overloaded: { kind: "overloaded", retryable: true },
  authentication: { kind: "authentication", retryable: false },
  permission: { kind: "authentication", retryable: false, statusCode: 403 },
  content: { kind: "content", retryable: false },
  invalid: { kind: "invalid_request", retryable: false, statusCode: 400 },
} as const;

test.each(providers.map((provider) => [provider.name, provider] as const))(
  "every failure of %s is told by its kind, and shows nothing of the request, the key or the answer",
  async (_, provider) => {
    const real = errorsOf(provider);
    // Google blocks a prompt with a reply.
    const names = (Object.keys(kinds) as (keyof typeof kinds)[]).filter(
      (name) => real[name].status !== 200,
    );
    const failures = names.map((name) => {
      const { status, body, headers } = real[name];
      return { error: { status, body: { ...(body as object), quoted: secret }, headers } };
    });
    await using run = await running(provider, failures);
    for (const name of names) {
      const asked = request({ messages: [userMessage(secret)] });
      const error = await failureOf(chunksOf(run.model, asked));
      const shown = inspect(error, { depth: 9 });
      const { status: statusCode } = real[name];
      expect(error, `${name}: ${shown}`).toMatchObject(
        name === "overflow" ? kinds[name] : { code: "MODEL", statusCode, ...kinds[name] },
      );
      for (const hidden of [secret, "test-key", "quoted"]) expect(shown).not.toContain(hidden);
    }
    expect(run.server.requests).toHaveLength(names.length);
  },
);

test("the words of a server that is not in the list can be added", async () => {
  const wire = { status: 400, body: { error: { message: "kontextfenster voll", code: 1 } } };
  const provider = providerNamed("compatible v3");
  await using run = await running(provider, [{ error: wire }, { error: wire }], {
    overflowPatterns: [/kontextfenster voll/],
  });
  const error = await failureOf(chunksOf(run.model, request()));
  expect(ContextOverflowError.is(error)).toBe(true);
});

test("an error in mid-reply is told with whether to try again", async () => {
  for (const provider of providers) {
    const fault = { afterDeltas: 1, kind: "error_event" } as const;
    await using run = await running(provider, [{ text: ["Hel", "lo"], fault }]);
    const error = await failureOf(chunksOf(run.model, request()));
    expect(error, provider.name).toMatchObject({ code: "MODEL", retryable: true });
  }
});

test("a prompt that Google blocks ends the reply with content_filter", async () => {
  for (const provider of providers.filter(({ api }) => api === "google")) {
    await using run = await running(provider, [{ error: realErrors.google.content }]);
    const chunks = await chunksOf(run.model, request());
    expect(chunks.at(-1), provider.name).toMatchObject({ reason: "content_filter" });
  }
});

test("OpenAI's overflow inside a stream is a ContextOverflowError", async () => {
  for (const provider of providers.filter(({ api }) => api === "openai")) {
    const error = await failure(provider, realErrors.openAi.overflowInStream);
    expect(ContextOverflowError.is(error), inspect(error)).toBe(true);
  }
});

test("a window that is full before anything was said is an overflow; after some text it is a length", async () => {
  for (const version of ["v3", "v4"]) {
    const provider = providerNamed(`anthropic ${version}`);
    await using run = await running(provider, [
      { finish: "context_window" },
      { text: "Hel", finish: "context_window" },
    ]);
    const error = await failureOf(chunksOf(run.model, request()));
    expect(ContextOverflowError.is(error), inspect(error)).toBe(true);
    const chunks = await chunksOf(run.model, request());
    expect(chunks.at(-1)).toMatchObject({ type: "finish", reason: "length" });
  }
});
