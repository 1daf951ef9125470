import { openAiChatServer, type WireReply, type WireServer } from "@holdfast/provider-rigs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ask, openAiChat } from "./ask.js";

const user = { role: "user", content: "Hi." };
const call = { id: "call_1", type: "function", function: { name: "add", arguments: "{}" } };
const called = { role: "assistant", content: null, tool_calls: [call] };
const result = { role: "tool", tool_call_id: "call_1", content: "3" };
const request = (...messages: object[]) => ({ model: "gpt-4o", messages });

let server: WireServer;
let replies: WireReply[];
beforeEach(async () => {
  replies = [];
  server = await openAiChatServer(() => replies.shift() ?? { text: "Yes." });
});
afterEach(() => server.close());

const answer = async (body: object) => (await ask(server, openAiChat, body)).body;

describe("the server of OpenAI's Chat Completions API", () => {
  test("answers thinking, text and tool calls as a message, streamed or not", async () => {
    const reply: WireReply = {
      thinking: { text: "Hm." },
      text: ["Ad", "ding."],
      toolCalls: [
        { name: "add", input: { a: 1 }, id: "call_1" },
        { name: "add", input: { a: 2 }, id: "call_2" },
      ],
      usage: { input: 100, output: 20, cachedInput: 60 },
    };
    replies = [reply, reply];
    const whole = await answer(request(user));
    expect(whole.choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: {
        content: "Adding.",
        reasoning_content: "Hm.",
        tool_calls: [{ id: "call_1" }, { id: "call_2" }],
      },
    });
    const { events } = await ask(server, openAiChat, {
      ...request(user),
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(assembled(events)).toEqual(whole.choices[0].message);
    expect(events.at(-1)).toMatchObject({ choices: [], usage: whole.usage });
    expect(whole.usage).toMatchObject({ prompt_tokens: 100, completion_tokens: 20 });
  });

  test("reports usage in a stream only when it was asked for", async () => {
    const { events } = await ask(server, openAiChat, { ...request(user), stream: true });
    expect(events.filter(({ usage }) => usage !== undefined)).toEqual([]);
    expect(events.at(-1).choices[0].finish_reason).toBe("stop");
  });

  test("refuses in a field of its own", async () => {
    replies = [{ text: "No.", finish: "refusal" }];
    const [{ message }] = (await answer(request(user))).choices;
    expect(message).toMatchObject({ content: null, refusal: "No." });
  });

  test("takes back calls with their results", async () => {
    const { status } = await ask(server, openAiChat, request(user, called, result));
    expect(status).toBe(200);
  });

  test.each<[string, object[], string]>([
    ["no messages", [], "empty array"],
    ["a role it does not know", [{ ...user, role: "model" }], "Invalid value: 'model'"],
    ["a result without its call", [user, result], "must be a response to a preceeding message"],
    ["two results of one call", [user, called, result, result], "must be a response"],
    ["a call without its result", [user, called, user], "did not have response messages: call_1"],
    ["a call at the end", [user, called], "did not have response messages: call_1"],
    ["a user who says nothing", [{ role: "user", content: null }], "expected a string, got null"],
    ["a part it does not know", [{ ...user, content: [{ type: "file_url" }] }], "'file_url'"],
    [
      "an id over 40 characters",
      [user, { ...called, tool_calls: [{ ...call, id: "x".repeat(41) }] }],
      "maximum length 40",
    ],
    [
      "arguments that are no text",
      [user, { ...called, tool_calls: [{ ...call, function: { name: "add", arguments: {} } }] }],
      "messages[1].tool_calls[0].function",
    ],
  ])("refuses %s", async (_what, messages, message) => {
    const { error } = await answer(request(...messages));
    expect(error.type).toBe("invalid_request_error");
    expect(error.message).toContain(message);
  });
});

// biome-ignore lint/suspicious/noExplicitAny: chunks of many shapes.
function assembled(events: readonly any[]): object {
  // biome-ignore lint/suspicious/noExplicitAny: grows by what the deltas bring.
  const message: any = { role: "assistant", content: null, refusal: null };
  for (const { choices } of events) {
    const {
      role: _,
      content,
      reasoning_content: thinking,
      tool_calls: calls,
    } = choices[0]?.delta ?? {};
    if (content) message.content = (message.content ?? "") + content;
    if (thinking) message.reasoning_content = (message.reasoning_content ?? "") + thinking;
    for (const { index, ...call } of calls ?? []) {
      message.tool_calls ??= [];
      message.tool_calls[index] ??= call;
      message.tool_calls[index].function.arguments += call.id ? "" : call.function.arguments;
    }
  }
  return message;
}
