import { anthropicServer, type WireReply, type WireServer } from "@holdfast/provider-rigs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { anthropic, ask } from "./ask.js";

const tool = { name: "add", input_schema: { type: "object" } };
const user = { role: "user", content: "Hi." };
const call = { type: "tool_use", id: "toolu_1", name: "add", input: {} };
const result = { type: "tool_result", tool_use_id: "toolu_1", content: "3" };
const request = (...messages: object[]) => ({
  model: "claude-sonnet-4-5",
  max_tokens: 4096,
  tools: [tool],
  messages,
});

let server: WireServer;
let replies: WireReply[];
beforeEach(async () => {
  replies = [];
  server = await anthropicServer(() => replies.shift() ?? { text: "Yes." });
});
afterEach(() => server.close());

const answer = async (body: object) => (await ask(server, anthropic, body)).body;
const refusal = async (body: object): Promise<string> => {
  const { error, type } = await answer(body);
  expect(type).toBe("error");
  expect(error.type).toBe("invalid_request_error");
  return error.message;
};

describe("the server of Anthropic", () => {
  test("answers thinking, text and a tool call as blocks, streamed or not", async () => {
    const reply: WireReply = {
      thinking: { text: "Let me see.", redacted: "c2VjcmV0" },
      text: ["Ad", "ding."],
      toolCalls: [{ name: "add", input: { a: 1 }, id: "toolu_1" }],
      usage: { input: 100, output: 20, cachedInput: 60 },
    };
    replies = [reply, reply];
    const whole = await answer(request(user));
    expect(whole).toMatchObject({
      stop_reason: "tool_use",
      usage: { input_tokens: 40, cache_read_input_tokens: 60, output_tokens: 20 },
      content: [
        { type: "thinking", thinking: "Let me see." },
        { type: "redacted_thinking", data: "c2VjcmV0" },
        { type: "text", text: "Adding." },
        { ...call, input: { a: 1 } },
      ],
    });
    const { events } = await ask(server, anthropic, { ...request(user), stream: true });
    expect(events[0].type).toBe("message_start");
    expect(events.at(-1).type).toBe("message_stop");
    expect(assembled(events)).toEqual(whole.content);
  });

  test("says why it stopped in its own words", async () => {
    const words = {
      stop: "end_turn",
      length: "max_tokens",
      refusal: "refusal",
      content_filter: "refusal",
      context_window: "model_context_window_exceeded",
    } as const;
    for (const [finish, word] of Object.entries(words)) {
      replies = [{ text: "x", finish: finish as keyof typeof words }];
      expect((await answer(request(user))).stop_reason).toBe(word);
    }
  });

  test("takes back what it said, with results right after their calls", async () => {
    replies = [{ thinking: { text: "Hm." }, toolCalls: [{ name: "add", input: {} }] }];
    const { content } = await answer(request(user));
    const results = [{ ...result, tool_use_id: content[1].id }];
    const next = request(user, { role: "assistant", content }, { role: "user", content: results });
    expect((await answer(next)).content[0].text).toBe("Yes.");
  });

  test("knows a signature of another server, and not one it never gave", async () => {
    const [elsewhere, mine] = [{ text: "Hm." }, { text: "Hm.", signature: "bWluZQ==" }];
    for (const thinking of [elsewhere, mine]) {
      replies = [{ thinking, text: "x" }];
      const { content } = await answer(request(user));
      await using other = await anthropicServer(() => ({ text: "Yes." }));
      const next = request(user, { role: "assistant", content }, user);
      const { status } = await ask(other, anthropic, next);
      expect(status).toBe(thinking === elsewhere ? 200 : 400);
      expect((await ask(server, anthropic, next)).status).toBe(200);
    }
  });

  test("refuses thinking that was changed, unsigned or signed by another provider", async () => {
    replies = [{ thinking: { text: "Hm." }, text: "x" }];
    const [thinking, text] = (await answer(request(user))).content;
    const with_ = (block: object) =>
      refusal(request(user, { role: "assistant", content: [block, text] }, user));
    expect(await with_({ ...thinking, thinking: "Hm!" })).toContain("cannot be modified");
    expect(await with_({ ...thinking, signature: undefined })).toContain("signature: Field");
    expect(await with_({ ...thinking, signature: "AAAA" })).toContain("Invalid `signature`");
    expect(await with_({ type: "redacted_thinking", data: "AAAA" })).toContain("Invalid `data`");
  });

  test("wants the thinking back while a turn with tools goes on", async () => {
    const turn = [
      user,
      { role: "assistant", content: [call] },
      { role: "user", content: [result] },
    ];
    const thinking = { type: "enabled", budget_tokens: 1024 };
    expect(await refusal({ ...request(...turn), thinking })).toContain(
      "When `thinking` is enabled, a final `assistant` message must start with a thinking block",
    );
    replies = [{ thinking: { text: "Hm." }, toolCalls: [{ name: "add", input: {}, id: call.id }] }];
    const { content } = await answer(request(user));
    const second = { ...call, id: "toolu_second" };
    // A turn thinks at its beginning; its later steps need not.
    const goingOn = [
      user,
      { role: "assistant", content },
      { role: "user", content: [result] },
      { role: "assistant", content: [second] },
      { role: "user", content: [{ ...result, tool_use_id: second.id }] },
    ];
    expect((await ask(server, anthropic, { ...request(...goingOn), thinking })).status).toBe(200);
    const later = [...turn, { role: "assistant", content: "3" }, user];
    expect((await ask(server, anthropic, { ...request(...later), thinking })).status).toBe(200);
  });

  const said = { role: "assistant", content: "Yes." };
  const called = { role: "assistant", content: [call] };
  const answered = { role: "user", content: [result] };
  test.each<[string, object[], string]>([
    ["no messages", [], "at least one message is required"],
    ["an assistant that begins", [said], 'first message must use the "user" role'],
    ["two messages of one role in a row", [user, user], "roles must alternate"],
    ["a role it does not know", [{ ...user, role: "tool" }], "'user' or 'assistant'"],
    ["a message without content", [{ ...user, content: [] }], "must have non-empty content"],
    ["an empty text", [{ ...user, content: [{ type: "text", text: "" }] }], "must be non-empty"],
    [
      "a text of spaces",
      [{ ...user, content: [{ type: "text", text: " \n" }] }],
      "must contain non-whitespace text",
    ],
    [
      "a last word of the assistant that ends in a space",
      [user, { ...said, content: "Yes " }],
      "cannot end with trailing whitespace",
    ],
    ["a block in the wrong role", [{ ...user, content: [call] }], "Input tag 'tool_use'"],
    ["a call without its result", [user, called, user], "without `tool_result` blocks"],
    ["a call at the end", [user, called], "without `tool_result` blocks"],
    [
      "a result that comes after text",
      [user, called, { ...user, content: [{ type: "text", text: "Here:" }, result] }],
      "without `tool_result` blocks",
    ],
    ["a result without its call", [answered], "unexpected `tool_use_id`"],
    [
      "a result one turn late",
      [user, called, answered, said, answered],
      "unexpected `tool_use_id`",
    ],
    [
      "two results of one call",
      [user, called, { ...user, content: [result, result] }],
      "must have a single result",
    ],
    [
      "the id of a call twice",
      [user, called, answered, called, answered],
      "`tool_use` ids must be unique",
    ],
    [
      "an id with strange characters",
      [user, { ...said, content: [{ ...call, id: "call:1" }] }],
      "should match pattern",
    ],
  ])("refuses %s", async (_what, messages, message) => {
    expect(await refusal(request(...messages))).toContain(message);
  });

  test.each<[string, object, string]>([
    ["no max_tokens", { max_tokens: undefined }, "max_tokens: Field required"],
    ["no model", { model: undefined }, "model: Field required"],
    ["a system prompt with nothing in it", { system: [{ type: "text", text: "" }] }, "non-empty"],
    ["a tool with a dot in its name", { tools: [{ ...tool, name: "a.b" }] }, "tools.0.custom.name"],
    ["two tools of one name", { tools: [tool, tool] }, "Tool names must be unique"],
    [
      "a tool whose input is no object",
      { tools: [{ ...tool, input_schema: { type: "string" } }] },
      "input_schema.type",
    ],
    [
      "more than four cache breakpoints",
      {
        system: Array.from({ length: 5 }, () => ({
          type: "text",
          text: "x",
          cache_control: { type: "ephemeral" },
        })),
      },
      "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ],
    [
      "a budget for thinking over the limit of the answer",
      { thinking: { type: "enabled", budget_tokens: 5000 } },
      "must be greater than `thinking.budget_tokens`",
    ],
  ])("refuses %s", async (_what, fields, message) => {
    expect(await refusal({ ...request(user), ...fields })).toContain(message);
  });
});

// biome-ignore lint/suspicious/noExplicitAny: events of many shapes.
function assembled(events: readonly any[]): object[] {
  // biome-ignore lint/suspicious/noExplicitAny: blocks of many shapes.
  const blocks: any[] = [];
  for (const { type, index, content_block: block, delta } of events) {
    if (type === "content_block_start") blocks[index] = { ...block, json: "" };
    if (type !== "content_block_delta") continue;
    const target = blocks[index];
    if (delta.type === "text_delta") target.text += delta.text;
    if (delta.type === "thinking_delta") target.thinking += delta.thinking;
    if (delta.type === "signature_delta") target.signature = delta.signature;
    if (delta.type === "input_json_delta") target.json += delta.partial_json;
  }
  return blocks.map(({ json, ...block }) =>
    json === "" ? block : { ...block, input: JSON.parse(json) },
  );
}
