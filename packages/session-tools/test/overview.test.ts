import { assistantMessage, type Slot, toolResultMessage, userMessage } from "@holdfast/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ada, bench, proposed } from "./bench.js";
import { messageArbitrary } from "./message-arbitrary.js";

/** The positions that a page shows, in its order. */
function positionsIn(text: string): number[] {
  return [...text.matchAll(/^\[(\d+)\] (?:user|assistant|tool|system)\b/gm)].map(([, seq]) =>
    Number(seq),
  );
}

test("a page shows every kind of block, with position, time and role", async () => {
  const tools = bench();
  await tools.say(userMessage("Hello", { name: "Ada" }));
  await tools.say(
    assistantMessage([
      { type: "thinking", text: "I should look." },
      { type: "text", text: "Looking." },
      { type: "tool_call", id: "c1", name: "read_file", input: { path: "a.txt", lines: [1, 2] } },
    ]),
  );
  await tools.say(
    toolResultMessage({
      type: "tool_result",
      toolCallId: "c1",
      name: "read_file",
      state: "error",
      output: [
        { type: "text", text: "no such file" },
        {
          type: "data",
          mediaType: "image/png",
          source: { kind: "base64", data: "AAAA" },
          name: "x",
        },
      ],
    }),
  );
  await tools.say(userMessage([{ type: "hint", text: "Be brief.", source: "summary" }]));
  await tools.end();
  expect((await tools.use("history")).text).toBe(
    `4 messages of session "one", oldest first:

[1] user "Ada", 2026-01-01T00:00:00.000Z
Hello

[2] assistant, 2026-01-01T00:00:01.000Z
[thinking]
I should look.
[text]
Looking.
[tool call read_file, id c1]
{"path":"a.txt","lines":[1,2]}

[3] tool, 2026-01-01T00:00:02.000Z
[result of read_file: error, call c1]
no such file
[data 0: image/png, 3 bytes, "x"]

[4] user, 2026-01-01T00:00:03.000Z
[hint from "summary"]
Be brief.

[This is the beginning of the conversation.]`,
  );
});

test("marks stand between the messages; how a call ended is not a line of its own", async () => {
  const tools = bench();
  await tools.say("one");
  await tools.mark({ name: "compaction", details: { cause: "tokens", more: "x".repeat(500) } });
  await tools.mark({ name: "interrupt" });
  await tools.say("two");
  await tools.end();
  const { text } = await tools.use("history");
  expect(text).toMatch(
    /one\n\n\[2\] \(compaction\), \S+: \{"cause":"tokens","more":"x+…\n\n\[3\] \(interrupt\), \S+\n\n\[4\] user/,
  );
  expect(text).not.toContain("call_end");
  expect(text.length).toBeLessThan(700);
});

test("a long message is cut, and the arguments named show exactly what follows", async () => {
  const tools = bench({ previewChars: 101 });
  const words = "😀 words ".repeat(100);
  await tools.say(words);
  const { text } = await tools.use("history");
  const args = proposed(text, "[cut: ");
  expect(args).toEqual({ at: 1, offset: 101 });
  expect(text).toContain(
    `${words.slice(0, 101)}…\n[cut: session_history with at: 1, offset: 101 shows more]`,
  );
  const { page } = await tools.use("history", args ?? {});
  expect(page.startsWith(words.slice(101))).toBe(true);
});

test("paging back from the end by the arguments named visits every message once, in order", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(messageArbitrary, fc.boolean()), { maxLength: 12 }),
      fc.integer({ min: 1, max: 5 }),
      fc.constantFrom(1_000, 20_000),
      async (messages, lastN, maxPageChars) => {
        const tools = bench({ maxPageChars, previewChars: 100 });
        const said: number[] = [];
        for (const [message, isMarked] of messages) {
          said.push(await tools.say(message));
          if (isMarked) await tools.mark({ name: "compaction" });
          await tools.say("elsewhere", { ...ada, sessionId: "two" });
        }
        const seen: number[] = [];
        for (let input: object | null = { lastN }; input !== null; ) {
          const { text } = await tools.use("history", input);
          const shown = positionsIn(text);
          expect(shown.length).toBeLessThanOrEqual(lastN);
          expect(text.length).toBeLessThanOrEqual(maxPageChars);
          seen.unshift(...shown);
          input = proposed(text, "Earlier ones: ");
        }
        expect(seen).toEqual(said);
      },
    ),
    { numRuns: 40 },
  );
});

test("paging on with `after` visits every message once, in order, and ends before `before`", async () => {
  const tools = bench();
  for (let index = 0; index < 30; index++) await tools.say(`message ${index}`);
  const seen: number[] = [];
  let input: Record<string, unknown> | null = { after: 4, before: 28, lastN: 7 };
  while (input !== null) {
    const { text } = await tools.use("history", input);
    seen.push(...positionsIn(text));
    input = proposed(text, "Later ones: ");
  }
  expect(seen).toEqual(Array.from({ length: 23 }, (_, index) => index + 5));
});

test("a page in the middle says how to go either way", async () => {
  const tools = bench();
  for (let index = 0; index < 30; index++) await tools.say(`message ${index}`);
  const { text } = await tools.use("history", { before: 20, lastN: 3 });
  expect(positionsIn(text)).toEqual([17, 18, 19]);
  expect(proposed(text, "Earlier ones: ")).toEqual({ before: 17, lastN: 3 });
  const later = await tools.use("history", proposed(text, "Later ones: ") ?? {});
  expect(positionsIn(later.text)).toEqual([20, 21, 22]);
});

test("the default is the last 20 messages", async () => {
  const tools = bench();
  for (let index = 0; index < 30; index++) await tools.say(`message ${index}`);
  const { text } = await tools.use("history");
  expect(positionsIn(text)).toEqual(Array.from({ length: 20 }, (_, index) => index + 11));
  expect(proposed(text, "Earlier ones: ")).toEqual({ before: 11 });
});

test("the arguments named lead to the same session of the same agent", async () => {
  const other: Slot = { agentId: 'other "agent"', userId: "ada", sessionId: "two\n" };
  const tools = bench({ previewChars: 100 });
  for (let index = 0; index < 3; index++) await tools.say(`${index}:${"x".repeat(500)}`, other);
  const { agentId, sessionId } = other;
  const { text } = await tools.use("history", { agentId, sessionId, lastN: 1 });
  const earlier = proposed(text, "Earlier ones: ");
  expect(earlier).toEqual({ before: 3, lastN: 1, sessionId, agentId });
  expect((await tools.use("history", earlier ?? {})).text).toContain("1:xxx");
  const { page } = await tools.use("history", proposed(text, "[cut: ") ?? {});
  expect(page).toContain("xxx");
});

test.each([
  ["conflict", false, "(discarded: conflict)"],
  ["rolled_back", false, "(discarded: rolled back)"],
  ["interrupted", true, "(interrupted)"],
  ["error", true, "(failed)"],
] as const)("what a call said that ended with %s", async (outcome, isShown, remark) => {
  const tools = bench();
  await tools.say("kept", ada, "a");
  await tools.end("committed", ada, "a");
  const at = await tools.say("in question", ada, "b");
  await tools.mark({ name: "compaction" }, ada, "b");
  await tools.end(outcome, ada, "b");
  const { text } = await tools.use("history");
  expect([text.includes("in question"), text.includes("(compaction)")]).toEqual([isShown, isShown]);
  expect(text).toContain("kept");
  expect((await tools.use("history", { at })).isError).toBe(!isShown);
  expect(
    (await tools.use("search", { query: "IN question", exact: true })).text.includes(
      "»in question«",
    ),
  ).toBe(isShown);
  const regex = { query: "in q.*", regex: true };
  expect((await tools.use("search", regex)).text.includes("»in question«")).toBe(isShown);
  const all = await tools.use("history", { includeDiscarded: true });
  expect(all.text).toContain(remark);
  const found = await tools.use("search", {
    query: "in question",
    exact: true,
    includeDiscarded: true,
  });
  const jump = await tools.use("history", proposed(found.text, "read it: ") ?? {});
  expect(jump.page).toContain("in question");
});

test("what a call said that has no end is marked, and what this call said is told apart", async () => {
  const tools = bench();
  await tools.say("crashed", ada, "a");
  await tools.say("done", ada, "b");
  await tools.end("committed", ada, "b");
  await tools.mark({ name: "memory_flush" }, ada, "in the background");
  await tools.say("running", ada, "c");
  const { text } = await tools.use("history", {}, ada, { callId: "c" });
  const elsewhere = { ...ada, sessionId: "two" };
  const seenFrom = await tools.use("history", { sessionId: "one" }, elsewhere, { callId: "c" });
  expect(seenFrom.text).toMatch(/Z \(unfinished\)\nrunning/);
  expect(text).toMatch(/Z \(unfinished\)\ncrashed/);
  expect(text).toMatch(/Z\ndone/);
  expect(text).toMatch(/\(memory_flush\), \S+Z\n/);
  expect(text).toMatch(/Z \(this call\)\nrunning/);
});

test("a stretch in which everything was discarded is passed over, in bounded time", async () => {
  const tools = bench({ timeoutMs: 1 });
  await tools.say("the first", ada, "a");
  await tools.end("committed", ada, "a");
  for (let index = 0; index < 300; index++) await tools.say("gone", ada, "b");
  await tools.end("conflict", ada, "b");
  const texts: string[] = [];
  for (let input: object | null = {}; input !== null; ) {
    const { text } = await tools.use("history", input);
    texts.push(text);
    input = proposed(text, "Earlier ones: ");
  }
  expect(texts.join("\n").match(/the first|gone/g)).toEqual(["the first"]);
});

test("the session of the call has nothing to show before its first record", async () => {
  const answer = await bench().use("history");
  expect([answer.isError, answer.text]).toEqual([false, 'Nothing to show of session "one".']);
});
