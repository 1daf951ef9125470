import { assistantMessage, type Block, toolResultMessage, userMessage } from "@holdfast/core";
import { expect, test } from "vitest";
import { type ProviderRequest, ReplayProvider } from "../../bench/src/replay/replay-provider.js";
import type { Script } from "../../bench/src/replay/script.js";

const script: Script = {
  turns: [
    {
      users: ["Hello?", "Where is my bag?"],
      replies: [
        { text: "", calls: [{ name: "find", input: { what: "bag" }, result: "in Oslo" }] },
        { text: "In Oslo.", calls: [] },
      ],
    },
  ],
  toolNames: ["find"],
  messages: 5,
  added: 0,
};

const users = [userMessage("Hello?"), userMessage("Where is my bag?")];
const call: Block = { type: "tool_call", id: "1", name: "find", input: { what: "bag" } };
const result = toolResultMessage({
  type: "tool_result",
  toolCallId: "1",
  name: "find",
  output: [{ type: "text", text: "in Oslo" }],
  state: "success",
});

const provider = (window = 1_000): ReplayProvider =>
  new ReplayProvider({ script, window, comparableFixedTokens: 10 });
const asking = (messages: ProviderRequest["messages"]): ProviderRequest => ({
  purpose: "reasoning",
  system: "Be kind.",
  tools: [],
  messages,
});

test("the assistant's side is played by place, with summaries in between", () => {
  const played = provider();
  expect(played.complete(asking(users)).calls).toHaveLength(1);
  expect(played.resultOf("find")).toBe("in Oslo");
  const summary = played.complete({ ...asking(users), purpose: "summary" });
  expect(summary.text).toContain("Where is my bag?");
  expect(played.isFinished).toBe(false);
  expect(played.complete(asking([...users, assistantMessage([call]), result])).text).toBe(
    "In Oslo.",
  );
  expect(played.isFinished).toBe(true);
  expect(played.problems).toEqual([]);
  expect(played.ledger.totals("reasoning").requests).toBe(2);
  expect(played.ledger.totals("summary").requests).toBe(1);
});

test("a request over the window is refused like OpenAI does and moves nothing", () => {
  const played = provider(40);
  expect(() =>
    played.complete(asking([userMessage("far too long ".repeat(20)), ...users])),
  ).toThrow(expect.objectContaining({ status: 400, code: "context_length_exceeded" }));
  expect(played.refused).toBe(1);
  expect(played.ledger.totals("reasoning").requests).toBe(0);
  expect(played.complete(asking(users)).calls).toHaveLength(1);
});

test.each([
  ["a call without its result", [...users, assistantMessage([call])], /missing result/],
  ["a result without its call", [...users, result], /orphan result/],
  ["a start with the assistant", [assistantMessage("Hello."), ...users], /role assistant/],
  ["the lack of the current request", [users[0] as (typeof users)[0]], /current request/],
] as const)("%s is noticed", (_, messages, problem) => {
  const played = provider();
  played.complete(asking(messages));
  expect(played.problems).toEqual([expect.stringMatching(problem)]);
});

test("a hint that only quotes the current request does not count as the user's words", () => {
  const played = provider();
  played.complete(
    asking([userMessage([{ type: "hint", source: "summary", text: "Where is my bag?" }])]),
  );
  expect(played.problems).toEqual([expect.stringMatching(/current request/)]);
});
