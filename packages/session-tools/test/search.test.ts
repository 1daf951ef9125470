import { assistantMessage, type Message, type Slot, toolResultMessage } from "@holdfast/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ada, type Bench, bench, proposed } from "./bench.js";
import { messageArbitrary } from "./message-arbitrary.js";

const two: Slot = { ...ada, sessionId: "two" };

function toolCall(name: string, input: object): Message {
  return assistantMessage([{ type: "tool_call", id: "c", name, input: input as never }]);
}

function result(name: string, text: string): Message {
  const output = [{ type: "text" as const, text }];
  return toolResultMessage({
    type: "tool_result",
    toolCallId: "c",
    name,
    output,
    state: "success",
  });
}

/** What is marked in each row, over all pages. */
async function marked({ use }: Bench, first: object): Promise<string[]> {
  const found: string[] = [];
  for (let input: object | null = first; input !== null; ) {
    const { text, isError } = await use("search", input);
    expect(isError, text).toBe(false);
    found.push(...[...text.matchAll(/»(.*?)«/gs)].map(([, match]) => match ?? ""));
    input = proposed(text, "Go on: ");
  }
  return found;
}

const kinds = [
  ["literal", { exact: true }],
  ["regex", { regex: true }],
] as const;

describe.each(kinds)("a %s search", (_, kind) => {
  test("finds text in all the user's sessions, most recently updated first, newest messages first", async () => {
    const tools = bench();
    await tools.say("needle 1");
    await tools.say("needle 2", two);
    await tools.say("needle 3");
    await tools.say("hay");
    const { text } = await tools.use("search", { query: "needle", ...kind });
    expect([...text.matchAll(/»needle« (\d)/g)].map(([, n]) => n)).toEqual(["3", "1", "2"]);
    expect(text).toContain('session "one" (this session)\n');
    expect(text).toContain('session "two"\n');
    expect(text).toContain("[3 found; everything was looked at.]");
  });

  test("is limited to a session when one is named", async () => {
    const tools = bench();
    await tools.say("needle 1");
    await tools.say("needle 2", two);
    const { text } = await tools.use("search", { query: "needle", sessionId: "two", ...kind });
    expect(text).toContain("»needle« 2");
    expect(text).not.toContain("»needle« 1");
  });

  test("looks into the sessions of another agent of the user when it is named", async () => {
    const tools = bench();
    await tools.say("needle", { ...ada, agentId: "other" });
    expect((await tools.use("search", { query: "needle", ...kind })).text).toContain(
      "Nothing found",
    );
    const { text } = await tools.use("search", { query: "needle", agentId: "other", ...kind });
    const jump = await tools.use("history", proposed(text, "read it: ") ?? {});
    expect(jump.page).toContain("needle");
  });

  test("goes on with the cursor until everything was found once", async () => {
    const tools = bench();
    for (let index = 0; index < 23; index++)
      await tools.say(`needle${index};`, index % 3 === 0 ? two : ada);
    const query = "regex" in kind ? "needle\\d+" : "needle";
    const rows: string[] = [];
    for (let input: object | null = { query, maxResults: 4, ...kind }; input !== null; ) {
      const { text } = await tools.use("search", input);
      rows.push(...[...text.matchAll(/»needle(?:\d*)«?(\d*);?/g)].map(([row]) => row));
      input = proposed(text, "Go on: ");
    }
    expect(new Set(rows).size).toBe(23);
    expect(rows.length).toBe(23);
  });

  test("passes over calls and results of session tools, and searches on behind them", async () => {
    const tools = bench();
    await tools.say("the needle itself");
    for (let index = 0; index < 30; index++) {
      await tools.say(toolCall("session_search", { query: "needle" }));
      await tools.say(result("session_search", "…»needle«…"));
      await tools.say(result("session_history", "needle"));
      await tools.say(toolCall("session_list", { cursor: "needle" }));
    }
    const { text } = await tools.use("search", { query: "needle", maxResults: 1, ...kind });
    expect(text).toContain("the »needle« itself");
  });

  test("finds what stands beside an echo in the same message", async () => {
    const tools = bench();
    const call = toolCall("session_search", { query: "needle" });
    await tools.say({
      ...call,
      content: [{ type: "text", text: "Looking for the needle" }, ...call.content],
    });
    const { text } = await tools.use("search", { query: "needle", ...kind });
    expect(text).toContain("Looking for the »needle«");
    expect(text).toContain("[1 found;");
  });

  test("does not find what only the rendering says", async () => {
    const tools = bench();
    await tools.say(result("read_file", "text"));
    for (const query of ["result of", "success", "thinking"])
      expect((await tools.use("search", { query, ...kind })).text).toContain("Nothing found");
  });

  test("stays within a page", async () => {
    const tools = bench({ maxPageChars: 1_500 });
    for (let index = 0; index < 50; index++)
      await tools.say(`${"x".repeat(300)}needle${"y".repeat(300)}`);
    const { text } = await tools.use("search", { query: "needle", maxResults: 50, ...kind });
    expect(text.length).toBeLessThanOrEqual(1_500);
    expect(await marked(tools, { query: "needle", maxResults: 50, ...kind })).toHaveLength(50);
  });

  test("gives readable errors for a cursor that is none of its own", async () => {
    const tools = bench();
    await tools.say("needle");
    for (const cursor of [
      "",
      "x",
      "1",
      "@one",
      "-1@one",
      "1@",
      "99999999999999999999@one",
      "1@\ud800",
      `1@${"x".repeat(300)}`,
    ]) {
      const answer = await tools.use("search", { query: "needle", cursor, ...kind });
      expect(answer.isError, cursor).toBe(true);
      expect(answer.text).toMatch(/^session_search: the .*cursor/);
    }
    const other = await tools.use("search", {
      query: "n",
      sessionId: "two",
      cursor: "5@one",
      ...kind,
    });
    expect([other.isError, other.text]).toEqual([true, expect.stringContaining("another session")]);
  });

  test("stops when its call does", async () => {
    const tools = bench();
    await tools.say("needle ".repeat(500_000));
    const signal = AbortSignal.abort(new Error("stopped"));
    const query = { query: "nothing", ...kind };
    await expect(tools.use("search", query, ada, { signal })).rejects.toThrow("stopped");
  });
});

test("every hit's arguments lead to a page that holds the match", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(messageArbitrary, { minLength: 1, maxLength: 4 }),
      fc.constantFrom("Needle", "nee\ndle", 'nee"dle', "$&", "\\n", "nee.dle😀"),
      fc.nat(),
      fc.nat(),
      fc.boolean(),
      async (messages, needle, which, where, isInput) => {
        const tools = bench({ maxPageChars: 1_000 });
        const chosen = which % messages.length;
        for (const [index, message] of messages.entries()) {
          const content = [...message.content];
          if (index === chosen) {
            const text = `${"pre 😀 ".repeat(where % 3_000)}${needle.toUpperCase()} post`;
            content.push(
              isInput
                ? { type: "tool_call", id: "x", name: "write", input: { a: { text } } }
                : { type: "text", text },
            );
          }
          await tools.say({ ...message, content });
        }
        const rows: string[] = [];
        for (let input: object | null = { query: needle, exact: true }; input !== null; ) {
          const { text } = await tools.use("search", input);
          rows.push(...text.split(/^(?=\[\d+\] )/m));
          input = proposed(text, "Go on: ");
        }
        let isFound = false;
        for (const row of rows.filter((each) => each.includes("read it: "))) {
          const { page, isError } = await tools.use("history", proposed(row, "read it: ") ?? {});
          expect(isError).toBe(false);
          const escaped = JSON.stringify(needle).slice(1, -1);
          const folded = page.toUpperCase();
          expect(
            folded.includes(needle.toUpperCase()) || folded.includes(escaped.toUpperCase()),
          ).toBe(true);
          const around = await tools.use("history", proposed(row, "around it: ") ?? {});
          const [, position] = /^\[(\d+)\]/m.exec(row) ?? [];
          expect(around.text).toContain(`[${position}] `);
          isFound ||= row.startsWith(`[${chosen + 1}]`);
        }
        expect(isFound).toBe(true);
      },
    ),
    { numRuns: 60 },
  );
});
