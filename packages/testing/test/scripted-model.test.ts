import {
  type ModelChunk,
  ModelError,
  type ModelRequest,
  toolResultMessage,
  userMessage,
} from "@holdfast/core";
import { expect, test } from "vitest";
import { scriptedModel } from "../src/index.js";

function request(fields: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: "Be brief.",
    messages: [userMessage("hello")],
    tools: [],
    signal: new AbortController().signal,
    ...fields,
  };
}

async function chunksOf(stream: AsyncIterable<ModelChunk>): Promise<ModelChunk[]> {
  const chunks: ModelChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

function textOfChunks(chunks: readonly ModelChunk[]): string {
  return chunks.map((chunk) => (chunk.type === "text_delta" ? chunk.text : "")).join("");
}

test("a text comes in several deltas, then finish says stop", async () => {
  const chunks = await chunksOf(scriptedModel(["It is 17 degrees 🌤."]).stream(request()));
  expect(textOfChunks(chunks)).toBe("It is 17 degrees 🌤.");
  expect(chunks.filter((chunk) => chunk.type === "text_delta").length).toBeGreaterThan(1);
  expect(chunks.at(-1)).toMatchObject({ type: "finish", reason: "stop" });
});

test("chunkSize counts characters and never splits a surrogate pair", async () => {
  const model = scriptedModel([{ text: "a🌤b", chunkSize: 1 }]);
  const texts = (await chunksOf(model.stream(request()))).flatMap((chunk) =>
    chunk.type === "text_delta" ? [chunk.text] : [],
  );
  expect(texts).toEqual(["a", "🌤", "b"]);
});

test("thinking comes before text, text before tool calls, and finish says tool_calls", async () => {
  const model = scriptedModel([
    { thinking: "hm", text: "I look", toolCalls: [{ name: "look", input: { at: 1 } }] },
  ]);
  const types = (await chunksOf(model.stream(request()))).map((chunk) => chunk.type);
  expect([...new Set(types)]).toEqual(["thinking_delta", "text_delta", "tool_call", "finish"]);
  expect(types.at(-1)).toBe("finish");
});

test("tool call ids start over in every reply, as some providers do, unless given", async () => {
  const call = { name: "look", input: {} };
  const model = scriptedModel([
    { toolCalls: [call, call] },
    { toolCalls: [call, { ...call, id: "mine" }] },
  ]);
  const ids = [];
  for (let index = 0; index < 2; index++)
    for (const chunk of await chunksOf(model.stream(request())))
      if (chunk.type === "tool_call") ids.push(chunk.id);
  expect(ids).toEqual(["call_0", "call_1", "call_0", "mine"]);
});

test("requests are recorded as they came, whatever happens to the list afterwards", async () => {
  const model = scriptedModel(["one", "two"]);
  const messages = [userMessage("first")];
  const tools = [{ name: "look", description: "Looks.", inputSchema: { type: "object" } }];
  await chunksOf(model.stream(request({ messages, tools, toolChoice: "required" })));
  messages.push(userMessage("second"));
  await chunksOf(model.stream(request({ messages })));
  expect(model.requests.map((recorded) => recorded.messages.length)).toEqual([1, 2]);
  expect(model.requests[0]).toEqual({
    system: "Be brief.",
    messages: messages.slice(0, 1),
    tools,
    toolChoice: "required",
  });
  expect(model.requests[0]?.messages[0]).toBe(messages[0]);
});

test("the call after the last reply fails and says how many were scripted and how many came", async () => {
  const model = scriptedModel(["only"], { id: "short" });
  await chunksOf(model.stream(request()));
  const error = await chunksOf(model.stream(request())).catch((reason: unknown) => reason);
  expect(ModelError.is(error)).toBe(true);
  expect(error).toMatchObject({
    message: expect.stringMatching(/"short" has 1 scripted .* called 2 times/),
    retryable: false,
  });
});

test("a function decides by the request and its number, also later", async () => {
  const model = scriptedModel(async ({ messages }, index) => `${index}: ${messages.length}`);
  expect(textOfChunks(await chunksOf(model.stream(request())))).toBe("0: 1");
  const two = request({ messages: [userMessage("a"), userMessage("b")] });
  expect(textOfChunks(await chunksOf(model.stream(two)))).toBe("1: 2");
});

test("an error alone is thrown before the first chunk, with text after it", async () => {
  const error = new ModelError("overloaded", { retryable: true });
  const model = scriptedModel([{ error }, { text: "partial", error }]);
  for (const expected of ["", "partial"]) {
    const seen: ModelChunk[] = [];
    const run = async (): Promise<void> => {
      for await (const chunk of model.stream(request())) seen.push(chunk);
    };
    await expect(run()).rejects.toBe(error);
    expect(textOfChunks(seen)).toBe(expected);
    expect(seen.some((chunk) => chunk.type === "finish")).toBe(false);
  }
});

test("an abort ends the wait at once with the signal's reason", async () => {
  const reason = new Error("stop");
  for (const script of [
    [{ text: "late", delayMs: 2 ** 30 }],
    () => new Promise<string>(() => {}),
  ]) {
    const controller = new AbortController();
    const stream = chunksOf(scriptedModel(script).stream(request({ signal: controller.signal })));
    setImmediate(() => controller.abort(reason));
    await expect(stream).rejects.toBe(reason);
  }
});

test("an abort between two deltas ends the stream there", async () => {
  const controller = new AbortController();
  const seen: string[] = [];
  const run = async (): Promise<void> => {
    const model = scriptedModel([{ text: "abc", chunkSize: 1 }]);
    for await (const chunk of model.stream(request({ signal: controller.signal }))) {
      if (chunk.type === "text_delta") seen.push(chunk.text);
      controller.abort("enough");
    }
  };
  await expect(run()).rejects.toBe("enough");
  expect(seen).toEqual(["a"]);
});

test("a request that is already aborted gets nothing, and the script is not asked", async () => {
  let asked = 0;
  const model = scriptedModel(() => {
    asked++;
    return "x";
  });
  await expect(chunksOf(model.stream(request({ signal: AbortSignal.abort("no") })))).rejects.toBe(
    "no",
  );
  expect(asked).toBe(0);
});

test("usage is the same for the same conversation, grows with it, and can be given", async () => {
  const usage = async (messages: ModelRequest["messages"], reply = "fine") => {
    const last = (await chunksOf(scriptedModel([reply]).stream(request({ messages })))).at(-1);
    return last?.type === "finish" ? last.usage : undefined;
  };
  const short = await usage([userMessage("hi")]);
  expect(await usage([userMessage("hi")])).toEqual(short);
  const result = { type: "tool_result", toolCallId: "c", name: "n", state: "success" } as const;
  const long = toolResultMessage({
    ...result,
    output: [{ type: "text", text: "x".repeat(4_000) }],
  });
  expect((await usage([userMessage("hi"), long]))?.inputTokens).toBeGreaterThan(
    1_000 + (short?.inputTokens ?? 0),
  );
  expect((await usage([userMessage("hi")], "x".repeat(40)))?.outputTokens).toBe(10);
  const given = { inputTokens: 5, outputTokens: 6, cachedInputTokens: 4 };
  const model = scriptedModel([{ text: "x", usage: given }]);
  expect((await chunksOf(model.stream(request()))).at(-1)).toMatchObject({ usage: given });
});

test("keeps as many requests as it was told to, the newest", async () => {
  const model = scriptedModel((_request, index) => `answer ${index}`, { keepRequests: 2 });
  const texts: string[] = [];
  for (const system of ["a", "b", "c"])
    texts.push(textOfChunks(await chunksOf(model.stream(request({ system })))));
  expect(texts).toEqual(["answer 0", "answer 1", "answer 2"]);
  expect(model.requests.map(({ system }) => system)).toEqual(["b", "c"]);
});
