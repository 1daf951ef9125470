import { googleServer, type WireReply, type WireServer } from "@holdfast/provider-rigs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ask, google } from "./ask.js";

const whole = { ...google, path: "/models/gemini-3-pro:generateContent" };
const older = { ...google, path: "/models/gemini-2.5-pro:generateContent" };
const user = { role: "user", parts: [{ text: "Hi." }] };
const call = { functionCall: { name: "add", args: {} } };
const response = { functionResponse: { name: "add", response: { content: "3" } } };
const unchecked = { ...call, thoughtSignature: "skip_thought_signature_validator" };
const called = { role: "model", parts: [unchecked] };
const answered = { role: "user", parts: [response] };
const request = (...contents: object[]) => ({ contents });

let server: WireServer;
let replies: WireReply[];
beforeEach(async () => {
  replies = [];
  server = await googleServer(() => replies.shift() ?? { text: "Yes." });
});
afterEach(() => server.close());

const refusal = async (body: object, api = whole): Promise<string> => {
  const { error } = (await ask(server, api, body)).body;
  expect(error).toMatchObject({ code: 400, status: "INVALID_ARGUMENT" });
  return error.message;
};
const contentOf = async (reply: WireReply) => {
  replies = [reply];
  return (await ask(server, whole, request(user))).body.candidates[0].content;
};

describe("the server of Google", () => {
  test("answers thoughts, text and a call as parts, streamed or not", async () => {
    const reply: WireReply = {
      thinking: { text: "Hm." },
      text: ["Ad", "ding."],
      toolCalls: [
        { name: "add", input: { a: 1 } },
        { name: "add", input: { a: 2 } },
      ],
      usage: { input: 100, output: 20, cachedInput: 60, reasoning: 5 },
    };
    replies = [reply, reply];
    const { body } = await ask(server, whole, request(user));
    expect(body.candidates[0]).toMatchObject({
      finishReason: "STOP",
      content: {
        role: "model",
        parts: [
          { text: "Hm.", thought: true },
          { text: "Adding." },
          { functionCall: { name: "add", args: { a: 1 } }, thoughtSignature: expect.any(String) },
          { functionCall: { name: "add", args: { a: 2 } } },
        ],
      },
    });
    expect(body.candidates[0].content.parts[3].thoughtSignature).toBeUndefined();
    expect(body.usageMetadata).toEqual({
      promptTokenCount: 100,
      candidatesTokenCount: 15,
      thoughtsTokenCount: 5,
      cachedContentTokenCount: 60,
      totalTokenCount: 120,
    });
    const { events } = await ask(server, google, request(user));
    const parts = events.flatMap(({ candidates }) => candidates[0].content.parts);
    expect(parts.filter(({ text }) => text !== "").map((part) => part.text)).toEqual([
      "Hm.",
      "Ad",
      "ding.",
      undefined,
      undefined,
    ]);
    expect(events.at(-1).candidates[0].finishReason).toBe("STOP");
  });

  test("signs the end of a text when there is no call", async () => {
    const reply = { thinking: { text: "Hm.", signature: "bWluZQ==" }, text: ["a", "b"] };
    const { parts } = await contentOf(reply);
    expect(parts.at(-1)).toEqual({ text: "ab", thoughtSignature: "bWluZQ==" });
    replies = [reply];
    const { events } = await ask(server, google, request(user));
    expect(events.at(-2).candidates[0].content.parts).toEqual([
      { text: "", thoughtSignature: "bWluZQ==" },
    ]);
  });

  test("sends a file inline, and says why it stopped in its own words", async () => {
    const file = { mediaType: "image/png", base64: "AAAA" };
    expect((await contentOf({ files: [file] })).parts[0]).toEqual({
      inlineData: { mimeType: "image/png", data: "AAAA" },
    });
    const words = {
      length: "MAX_TOKENS",
      content_filter: "SAFETY",
      refusal: "PROHIBITED_CONTENT",
      context_window: "MAX_TOKENS",
    } as const;
    for (const [finish, word] of Object.entries(words)) {
      replies = [{ text: "x", finish: finish as keyof typeof words }];
      const { body } = await ask(server, whole, request(user));
      expect(body.candidates[0].finishReason).toBe(word);
    }
  });

  test("takes back what it said, on any server", async () => {
    const content = await contentOf({
      thinking: { text: "Hm." },
      toolCalls: [{ name: "add", input: {} }],
    });
    await using other = await googleServer([{ text: "Yes." }]);
    const { status } = await ask(other, whole, request(user, content, answered));
    expect(status).toBe(200);
  });

  test("wants the signature of a call back while its turn goes on, from Gemini 3 on", async () => {
    const unsigned = [user, { role: "model", parts: [call] }, answered];
    expect(await refusal(request(...unsigned))).toContain("missing a thought_signature");
    expect((await ask(server, older, request(...unsigned))).status).toBe(200);
    expect((await ask(server, whole, request(...unsigned, user))).status).toBe(200);
    expect((await ask(server, whole, request(user, called, answered))).status).toBe(200);
  });

  test("refuses a signature it never gave", async () => {
    const said = (thoughtSignature: string) => ({
      role: "model",
      parts: [{ text: "x", thoughtSignature }],
    });
    expect(await refusal(request(user, said("AAAA"), user))).toBe("Corrupted thought signature.");
    expect(await refusal(request(user, said("no base64"), user))).toContain("Base64 decoding");
  });

  const two = { role: "model", parts: [unchecked, call] };
  test.each<[string, object[], string]>([
    ["no contents", [], "contents is not specified"],
    ["a role it does not know", [{ ...user, role: "assistant" }], "valid role"],
    ["a content without parts", [{ ...user, parts: [] }], "must not be empty"],
    ["a part without data", [{ ...user, parts: [{ thought: true }] }], "oneof field 'data'"],
    ["a call without its response", [user, called, user], "number of function response parts"],
    ["a call at the end", [user, called], "number of function response parts"],
    ["fewer responses than calls", [user, two, answered], "number of function response parts"],
    ["a response without a call", [user, answered], "comes immediately after a function call turn"],
    [
      "a response of another name",
      [
        user,
        called,
        { role: "user", parts: [{ functionResponse: { name: "sub", response: {} } }] },
      ],
      "names match",
    ],
    ["a call that begins", [called, answered], "immediately after a user turn"],
  ])("refuses %s", async (_what, contents, message) => {
    expect(await refusal(request(...contents))).toContain(message);
  });

  test.each<[string, object, string]>([
    ["a tool whose name begins with a digit", { name: "1st" }, "Invalid function name"],
    [
      "a schema with words of JSON Schema",
      {
        name: "add",
        parameters: {
          type: "object",
          properties: { a: { type: "object", additionalProperties: false } },
        },
      },
      'Unknown name "additionalProperties"',
    ],
  ])("refuses %s", async (_what, declaration, message) => {
    const tools = [{ functionDeclarations: [declaration] }];
    expect(await refusal({ ...request(user), tools })).toContain(message);
  });
});
