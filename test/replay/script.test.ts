import { expect, test } from "vitest";
import { type Conversation, readConversations } from "../../bench/src/replay/conversation.js";
import { scriptOf } from "../../bench/src/replay/script.js";

const conversation = (...messages: Conversation["messages"]): Conversation => ({
  id: "made-up",
  messages,
});

test("the recording is one session of 2,456 messages, with every recorded word in its place", () => {
  const conversations = readConversations();
  const script = scriptOf(conversations);
  expect(conversations).toHaveLength(100);
  expect(script.messages).toBe(2_456);
  expect(script.added).toBe(30);
  const recorded = conversations.flatMap(({ messages }) => messages.map(({ content }) => content));
  const played = script.turns.flatMap(({ users, replies }) => [
    ...users,
    ...replies.flatMap(({ text, calls }) => [text, ...calls.map(({ result }) => result)]),
  ]);
  expect(played.filter((text) => text !== "That is done.")).toEqual(recorded);
});

test("every turn ends with a reply that calls nothing, and no other reply does", () => {
  for (const { users, replies } of scriptOf(readConversations()).turns) {
    expect(users.length).toBeGreaterThan(0);
    expect(replies.findIndex(({ calls }) => calls.length === 0)).toBe(replies.length - 1);
  }
});

test("users in a row are one input, also across conversations", () => {
  const script = scriptOf([
    conversation(
      { role: "user", content: "a" },
      { role: "user", content: "b" },
      { role: "assistant", content: "c" },
      { role: "user", content: "d" },
    ),
    conversation({ role: "user", content: "e" }, { role: "assistant", content: "f" }),
  ]);
  expect(script.turns.map(({ users }) => users)).toEqual([
    ["a", "b"],
    ["d", "e"],
  ]);
  expect(script).toMatchObject({ messages: 6, added: 0 });
});

test("texts of the assistant in a row are one reply", () => {
  const script = scriptOf([
    conversation(
      { role: "user", content: "a" },
      { role: "assistant", content: "b" },
      { role: "assistant", content: "c" },
    ),
  ]);
  expect(script.turns[0]?.replies).toEqual([{ text: "b\n\nc", calls: [] }]);
});

test("several calls of one reply each get their own result, though ids repeat later", () => {
  const call = (id: string, n: number) => ({ id, name: "look", arguments: `{"n":${n}}` });
  const result = (tool_call_id: string, content: string) =>
    ({ role: "tool", content, tool_call_id }) as const;
  const script = scriptOf([
    conversation(
      { role: "user", content: "a" },
      { role: "assistant", content: null, tool_calls: [call("x", 1), call("y", 2)] },
      result("y", "two"),
      result("x", "one"),
      { role: "assistant", content: "again", tool_calls: [call("x", 3)] },
      result("x", "three"),
    ),
  ]);
  expect(script.turns[0]?.replies).toEqual([
    {
      text: "",
      calls: [
        { name: "look", input: { n: 1 }, result: "one" },
        { name: "look", input: { n: 2 }, result: "two" },
      ],
    },
    { text: "again", calls: [{ name: "look", input: { n: 3 }, result: "three" }] },
    { text: "That is done.", calls: [] },
  ]);
  expect(script).toMatchObject({ toolNames: ["look"], messages: 7, added: 1 });
});
