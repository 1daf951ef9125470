import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { fromAiSdk } from "../src/index.js";
import { chatChunk, eventServer } from "./event-server.js";
import { type Provider, providers, running } from "./providers.js";
import { finishPart, recordingModel } from "./recording-model.js";
import { chunksOf, failureOf, request } from "./requests.js";

const named = (...apis: readonly Provider["api"][]) =>
  providers.filter(({ api }) => apis.includes(api)).map((one) => [one.name, one] as const);

test.each(named("openai", "openai-chat", "compatible"))(
  "a refusal of %s ends the reply with content_filter",
  async (_, provider) => {
    await using run = await running(provider, [
      { text: ["I cannot ", "help."], finish: "refusal" },
      { text: "Gladly." },
    ]);
    const refused = await chunksOf(run.model, request());
    expect(refused.at(-1)).toMatchObject({ type: "finish", reason: "content_filter" });
    const answered = await chunksOf(run.model, request());
    expect(answered.at(-1)).toMatchObject({ type: "finish", reason: "stop" });
  },
);

describe.each(named("openai-chat", "compatible"))("a clean end of %s", (_, provider) => {
  const usage = (completion_tokens: number) => ({
    usage: { prompt_tokens: 1, completion_tokens, total_tokens: 1 + completion_tokens },
  });
  const read = async (...events: readonly unknown[]) => {
    await using server = await eventServer(events);
    return await chunksOf(fromAiSdk(provider.create(server.url)), request());
  };
  const cut = { code: "MODEL", kind: "connection", retryable: true };

  test("without a reason is a reply cut off, though every chunk had its usage", async () => {
    const failure = await failureOf(
      read(
        chatChunk({ role: "assistant", content: "Hel" }, null, usage(1)),
        chatChunk({ content: "lo" }, null, usage(2)),
      ),
    );
    expect(failure).toMatchObject(cut);
  });

  test("without a reason after a tool call is a reply cut off", async () => {
    const call = { index: 0, id: "a", type: "function", function: { name: "f", arguments: "{}" } };
    expect(await failureOf(read(chatChunk({ tool_calls: [call] })))).toMatchObject(cut);
  });

  test("with a reason nobody knows is complete, also without usage", async () => {
    const chunks = await read(chatChunk({ content: "Hi." }), chatChunk({}, "eos"), "[DONE]");
    expect(chunks.at(-1)).toMatchObject({ type: "finish", reason: "stop" });
  });
});

describe("what comes after the finish of a reply", () => {
  const text = { type: "text-delta", id: "1", delta: "Hi." };

  test.each([
    ["text", { type: "text-delta", id: "1", delta: " Ho." }],
    ["a tool call", { type: "tool-call", toolCallId: "x", toolName: "f", input: "{}" }],
    ["an error", { type: "error", error: new Error("late") }],
    ["a raw error", { type: "raw", rawValue: { type: "error", error: { message: "late" } } }],
    ["another finish", finishPart("length")],
  ])("%s is not part of it", async (_, late) => {
    const reply = () => [text, finishPart("stop"), late];
    const chunks = await chunksOf(fromAiSdk(recordingModel({ reply })), request());
    expect(chunks).toMatchObject([{ text: "Hi." }, { type: "finish", reason: "stop" }]);
    expect(chunks).toHaveLength(2);
  });

  test("is not waited for for long, however much it is, and the connection is closed", async () => {
    let isCancelled = false;
    let sent = 0;
    const stream = new ReadableStream<unknown>({
      async pull(controller) {
        if (sent > 0) await wait(50);
        controller.enqueue(sent++ === 0 ? finishPart("stop") : { type: "raw", rawValue: {} });
      },
      cancel() {
        isCancelled = true;
      },
    });
    const model = fromAiSdk({ ...recordingModel(), doStream: async () => ({ stream }) });
    const chunks = await Promise.race([chunksOf(model, request()), wait(3_000, "still reading")]);
    expect(chunks).toMatchObject([{ type: "finish", reason: "stop" }]);
    expect(isCancelled).toBe(true);
  });

  test("is left even when there is always more of it at hand", async () => {
    const stream = new ReadableStream<unknown>({
      pull: (controller) => controller.enqueue(finishPart("stop")),
    });
    const model = fromAiSdk({ ...recordingModel(), doStream: async () => ({ stream }) });
    expect(await chunksOf(model, request())).toMatchObject([{ type: "finish", reason: "stop" }]);
  });
});
