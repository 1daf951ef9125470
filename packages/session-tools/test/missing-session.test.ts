import { expect, test } from "vitest";
import { bench } from "./bench.js";

test.each([
  ["search", { query: "words", sessionId: "no such one" }],
  ["search", { query: "w.rds", regex: true, sessionId: "no such one" }],
  ["history", { sessionId: "no such one" }],
  ["history", { sessionId: "no such one", at: 3 }],
  ["history", { sessionId: "no such one", after: 3 }],
] as const)("%s of an id that no session has says so: %j", async (name, request) => {
  const tools = bench();
  await tools.say("words of this session");
  const answer = await tools.use(name, request);
  expect(answer.isError).toBe(true);
  expect(answer.text).toContain(
    'there is no session "no such one" of this user; session_list shows the ids of those there are',
  );
});

test("a session of another user is as missing as one that nobody has", async () => {
  const tools = bench();
  await tools.say("the words of Eve", { agentId: "agent", userId: "eve", sessionId: "hers" });
  const hers = await tools.use("search", { query: "words", sessionId: "hers" });
  const none = await tools.use("search", { query: "words", sessionId: "none" });
  expect(hers.text.replaceAll("hers", "none")).toBe(none.text);
});

test("one that exists and has nothing to show, and the caller's own before its first record, are not missing", async () => {
  const tools = bench();
  await tools.say("words", { agentId: "agent", userId: "ada", sessionId: "two" });
  const other = await tools.use("search", { query: "nothing like it", sessionId: "two" });
  expect(other).toMatchObject({
    isError: false,
    text: expect.stringMatching(/^\[Nothing found in 1 message/),
  });
  const exact = await tools.use("search", {
    query: "nothing like it",
    sessionId: "two",
    exact: true,
  });
  expect(exact.text).toBe("[Nothing found; everything was looked at.]");
  const own = await tools.use("search", { query: "words", sessionId: "one" });
  expect(own.text).toContain("Nothing found");
  expect((await tools.use("history")).text).toContain("Nothing to show");
});

test("a session with another agent is named with its agent", async () => {
  const tools = bench();
  const answer = await tools.use("history", { agentId: "planner", sessionId: "none" });
  expect(answer.text).toContain('there is no session "none" of this user with agent "planner"');
  expect(answer.text).toContain('session_list with agentId: "planner"');
});
