import { inspect } from "node:util";
import { ContextOverflowError } from "@holdfast/core";
import { realErrors } from "@holdfast/provider-rigs";
import { describe, expect, test } from "vitest";
import { fromAiSdk } from "../src/index.js";
import { chatChunk, eventServer } from "./event-server.js";
import { type Provider, providers, running } from "./providers.js";
import { finishPart, recordingModel } from "./recording-model.js";
import { chunksOf, failureOf, request } from "./requests.js";

const text = ["Hel", "lo"];
const named = (...apis: readonly Provider["api"][]) =>
  providers.filter(({ api }) => apis.includes(api)).map((one) => [one.name, one] as const);

describe.each(named("openai"))("an error in the stream of %s", (_, provider) => {
  const { overflowInStream, overflowInStreamFlat, overflowInStreamFailed } = realErrors.openAi;
  const forms = [
    ["an error event", overflowInStream],
    ["a flat error event", overflowInStreamFlat],
    ["a failed response", overflowInStreamFailed],
  ] as const;

  test.each(forms)("%s instead of a reply: an overflow is one", async (_form, error) => {
    await using run = await running(provider, [{ error }]);
    const failure = await failureOf(chunksOf(run.model, request()));
    expect(ContextOverflowError.is(failure), inspect(failure)).toBe(true);
  });

  test.each(forms)("%s in mid-reply: an overflow is one", async (_form, { body }) => {
    const fault = { afterDeltas: 1, kind: "error_event", body } as const;
    await using run = await running(provider, [{ text, fault }]);
    const failure = await failureOf(chunksOf(run.model, request()));
    expect(ContextOverflowError.is(failure), inspect(failure)).toBe(true);
  });

  test.each([
    ["rate_limit_exceeded", "Rate limit reached.", { kind: "rate_limit", retryable: true }],
    ["insufficient_quota", "No quota.", { kind: "rate_limit", retryable: false }],
    ["invalid_prompt", "It was flagged.", { kind: "content", retryable: false }],
    ["server_error", "Sorry.", { kind: "unknown", retryable: true }],
  ])("a failed response tells its kind: %s", async (code, message, expected) => {
    const response = { id: "resp_1", status: "failed", error: { code, message } };
    const body = { type: "response.failed", sequence_number: 9, response };
    const fault = { afterDeltas: 1, kind: "error_event", body } as const;
    await using run = await running(provider, [{ text, fault }]);
    const failure = await failureOf(chunksOf(run.model, request()));
    expect(failure).toMatchObject({ code: "MODEL", ...expected });
  });
});

describe.each(named("openai-chat", "compatible"))(
  "a reply of %s that fails midway",
  (_, provider) => {
    const read = async (...last: readonly unknown[]) => {
      await using server = await eventServer([
        chatChunk({ role: "assistant", content: "Hel" }),
        ...last,
        "[DONE]",
      ]);
      return await chunksOf(fromAiSdk(provider.create(server.url)), request());
    };

    test("is told with its error, though the chunk has a choice as well", async () => {
      const error = { code: "server_error", message: "Provider disconnected unexpectedly" };
      const failure = await failureOf(read(chatChunk({ content: "" }, "error", { error })));
      expect(failure).toMatchObject({ code: "MODEL", kind: "unknown", retryable: true });
      expect(failure).toMatchObject({ cause: { message: error.message } });
    });

    test("is told without one", async () => {
      const chunks = await read(chatChunk({ content: "" }, "error"));
      expect(chunks.at(-1)).toMatchObject({ type: "finish", reason: "error" });
    });
  },
);

test("an error that is none does not fail a reply", async () => {
  for (const error of [null, "", {}, { message: "", code: "" }]) {
    const chunk = chatChunk({ content: "Hi." }, null, { error });
    const reply = () => [{ type: "raw", rawValue: chunk }, finishPart("stop")];
    const chunks = await chunksOf(fromAiSdk(recordingModel({ reply })), request());
    expect(chunks.at(-1)).toMatchObject({ type: "finish", reason: "stop" });
  }
});

test("an error event is told at once, also by a package that passes over it and a server that stays", async () => {
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue({ type: "raw", rawValue: { type: "error", message: "Overloaded" } });
    },
  });
  const model = fromAiSdk({ ...recordingModel(), doStream: async () => ({ stream }) });
  const failure = await failureOf(chunksOf(model, request()));
  expect(failure).toMatchObject({ code: "MODEL", kind: "overloaded", retryable: true });
});

test.each([
  ["a plain object", { message: "boom" }],
  ["an error", new Error("boom")],
  ["an error of the SDK's kind", Object.assign(new Error("boom"), { name: "AI_SomeError" })],
])("an error part with %s is worth another try", async (_, error) => {
  const reply = () => [{ type: "error", error }, finishPart("error")];
  const failure = await failureOf(chunksOf(fromAiSdk(recordingModel({ reply })), request()));
  expect(failure).toMatchObject({ code: "MODEL", kind: "unknown", retryable: true });
});
