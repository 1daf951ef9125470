import { openAiServer, realErrors, type WireReply, type WireServer } from "@holdfast/provider-rigs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ask, eventsIn, openAi, post } from "./ask.js";

const user = { role: "user", content: [{ type: "input_text", text: "Hi." }] };
const call = { type: "function_call", call_id: "call_1", name: "add", arguments: "{}" };
const output = { type: "function_call_output", call_id: "call_1", output: "3" };
const said = { role: "assistant", content: [{ type: "output_text", text: "Yes." }] };
const request = (...input: object[]) => ({ model: "gpt-5", input });
const encrypted = { store: false, include: ["reasoning.encrypted_content"] };
const thought: WireReply = {
  thinking: { text: "Hm." },
  text: ["Ad", "ding."],
  toolCalls: [{ name: "add", input: { a: 1 }, id: "call_1" }],
};

let server: WireServer;
let replies: WireReply[];
beforeEach(async () => {
  replies = [];
  server = await openAiServer(() => replies.shift() ?? { text: "Yes." });
});
afterEach(() => server.close());

const answer = async (body: object) => (await ask(server, openAi, body)).body;
const refusal = async (body: object): Promise<string> => (await answer(body)).error.message;
const outputOf = async (reply: WireReply, fields: object = {}) => {
  replies = [reply];
  return (await answer({ ...request(user), ...fields })).output;
};
const reference = ({ id }: { id: string }) => ({ type: "item_reference", id });

describe("the server of OpenAI's Responses API", () => {
  test("answers reasoning, text and a tool call as items, streamed or not", async () => {
    replies = [thought, thought];
    const whole = await answer(request(user));
    expect(whole).toMatchObject({
      status: "completed",
      output: [
        { type: "reasoning", summary: [{ text: "Hm." }] },
        { type: "message", content: [{ type: "output_text", text: "Adding." }] },
        { type: "function_call", call_id: "call_1", name: "add", arguments: '{"a":1}' },
      ],
    });
    expect(whole.output[0].encrypted_content).toBeUndefined();
    const { events } = await ask(server, openAi, { ...request(user), stream: true });
    expect(events.map((event) => event.sequence_number)).toEqual([...events.keys()]);
    const done = events.filter(({ type }) => type === "response.output_item.done");
    expect(done.map(({ item }) => item)).toEqual(events.at(-1).response.output);
    expect(events.at(-1)).toMatchObject({ type: "response.completed" });
    const deltas = events.filter(({ type }) => type === "response.output_text.delta");
    expect(deltas.map(({ delta }) => delta)).toEqual(["Ad", "ding."]);
  });

  test("reports usage and why it stopped in its own words", async () => {
    const usage = { input: 100, output: 20, cachedInput: 60, reasoning: 5 };
    replies = [
      { text: "x", usage },
      { text: "x", finish: "length" },
      { text: "x", finish: "content_filter" },
      { text: "No.", finish: "refusal" },
    ];
    expect((await answer(request(user))).usage).toEqual({
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 5 },
      total_tokens: 120,
    });
    for (const reason of ["max_output_tokens", "content_filter"])
      expect(await answer(request(user))).toMatchObject({
        status: "incomplete",
        incomplete_details: { reason },
      });
    expect((await answer(request(user))).output[0].content).toEqual([
      { type: "refusal", refusal: "No." },
    ]);
  });

  test("sends a file as a generated image", async () => {
    const [item] = await outputOf({ files: [{ mediaType: "image/png", base64: "AAAA" }] });
    expect(item).toMatchObject({ type: "image_generation_call", result: "AAAA" });
  });

  test("takes back items, and references to items it stored", async () => {
    const items = await outputOf(thought);
    expect((await ask(server, openAi, request(user, ...items, output))).status).toBe(200);
    const references = items.map(reference);
    expect((await ask(server, openAi, request(user, ...references, output))).status).toBe(200);
  });

  test("does not know an item of another server, nor of an answer that was not received whole", async () => {
    expect(await refusal(request(user, reference({ id: "msg_1" })))).toBe(
      "Item with id 'msg_1' not found.",
    );
    replies = [{ text: ["a", "b"], fault: { afterDeltas: 1, kind: "error_event" } }];
    const { events } = await ask(server, openAi, { ...request(user), stream: true });
    const { item } = events.find(({ type }) => type === "response.output_item.added");
    expect(await refusal(request(user, reference(item)))).toContain("not found");
  });

  test.each([
    ["overflowInStream", { type: "error", error: { code: "context_length_exceeded" } }],
    ["overflowInStreamFlat", { type: "error", code: "context_length_exceeded" }],
    [
      "overflowInStreamFailed",
      {
        type: "response.failed",
        response: { status: "failed", error: { code: "context_length_exceeded" } },
      },
    ],
  ] as const)("tells an error in a stream in each of its forms: %s", async (form, event) => {
    const error = realErrors.openAi[form];
    replies = [
      { error },
      { text: "a", fault: { afterDeltas: 1, kind: "error_event", body: error.body } },
    ];
    const asked = { ...request(user), stream: true };
    expect((await ask(server, openAi, asked)).events).toMatchObject([event]);
    const text = await (await post(server, openAi, asked)).text();
    expect(eventsIn(text).at(-1)).toMatchObject(event);
    expect(text).toContain(`event: ${event.type}\n`);
  });

  test("does not know an item that was not to be stored", async () => {
    const [, message] = await outputOf(thought, encrypted);
    expect(await refusal(request(user, reference(message)))).toContain(
      "Items are not persisted when `store` is set to false.",
    );
  });

  test("takes encrypted reasoning back when it is its own, on any server", async () => {
    const [reasoning, message] = await outputOf({ ...thought, toolCalls: [] }, encrypted);
    expect(reasoning.encrypted_content).toEqual(expect.any(String));
    await using other = await openAiServer([{ text: "Yes." }]);
    const next = { ...request(user, reasoning, message), ...encrypted };
    expect((await ask(other, openAi, next)).status).toBe(200);
    const forged = { ...reasoning, encrypted_content: "AAAA" };
    expect(await refusal(request(user, forged, message))).toContain("could not be verified");
    const { encrypted_content: _, ...bare } = reasoning;
    expect((await ask(other, openAi, request(user, bare, message))).status).toBe(404);
  });

  test("gives the encrypted content of the script, and wants that", async () => {
    const reply = { ...thought, thinking: { text: "", encrypted: "bWluZQ==" }, toolCalls: [] };
    const [reasoning, message] = await outputOf(reply, encrypted);
    expect(reasoning).toMatchObject({ encrypted_content: "bWluZQ==", summary: [] });
    const next = { ...request(user, reasoning, message), ...encrypted };
    expect((await ask(server, openAi, next)).status).toBe(200);
  });

  test("wants reasoning followed by what it led to, and that preceded by its reasoning", async () => {
    const [reasoning, message] = await outputOf({ ...thought, toolCalls: [] });
    expect(await refusal(request(user, reasoning))).toContain(
      `Item '${reasoning.id}' of type 'reasoning' was provided without its required following item.`,
    );
    expect(await refusal(request(user, reasoning, user))).toContain("required following item");
    expect(await refusal(request(user, message))).toContain(
      `of type 'message' was provided without its required 'reasoning' item: '${reasoning.id}'`,
    );
    const { id: _, ...anonymous } = message;
    expect((await ask(server, openAi, request(user, anonymous))).status).toBe(200);
  });

  test.each<[string, object[], string]>([
    ["an output without its call", [user, output], "No tool call found for function call output"],
    ["an output before its call", [user, output, call], "No tool call found"],
    ["two outputs of one call", [user, call, output, output], "No tool call found"],
    ["a call without its output", [user, call], "No tool output found for function call call_1."],
    ["an item it does not know", [{ type: "nonsense" }], "Invalid value: 'nonsense'"],
    ["a role it does not know", [{ ...user, role: "tool" }], "Invalid value: 'tool'"],
    ["input parts of an assistant", [{ ...user, role: "assistant" }], "Supported values are"],
    ["output parts of a user", [{ ...said, role: "user" }], "Supported values are: 'input_text'"],
    ["a call without a name", [{ ...call, name: undefined }, output], "input[0].name"],
    [
      "the id of another provider",
      [user, { ...said, id: "toolu_1" }],
      "Expected an ID that begins with 'msg'",
    ],
    [
      "a call id over 64 characters",
      [
        { ...call, call_id: "x".repeat(65) },
        { ...output, call_id: "x".repeat(65) },
      ],
      "maximum length 64",
    ],
    [
      "an item twice",
      [
        { ...said, id: "msg_1" },
        { ...said, id: "msg_1" },
      ],
      "Duplicate item found with id msg_1",
    ],
  ])("refuses %s", async (_what, input, message) => {
    expect(await refusal(request(...input))).toContain(message);
  });

  const tool = { type: "function", name: "add", parameters: { type: "object" } };
  test.each<[string, object, string]>([
    ["no model", { model: undefined }, "Missing required parameter: 'model'."],
    ["no input", { input: undefined }, "Missing required parameter: 'input'."],
    ["a tool with a space in its name", { tools: [{ ...tool, name: "a b" }] }, "tools[0].name"],
    ["a tool without a schema", { tools: [{ ...tool, parameters: {} }] }, "got 'type: \"None\"'"],
    ["a strict tool with an open schema", { tools: [{ ...tool, strict: true }] }, "to be false"],
  ])("refuses %s", async (_what, fields, message) => {
    expect(await refusal({ ...request(user), ...fields })).toContain(message);
  });
});
