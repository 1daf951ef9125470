import { assistantMessage, InMemoryConversationLog } from "@holdfast/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ada, bench, proposed } from "./bench.js";

const regex = true;

test("an expression is looked for line by line, in the case it is written in", async () => {
  const tools = bench();
  await tools.say("First line\r\nsecond LINE\nthird");
  const marked = async (query: string): Promise<string | undefined> =>
    /»(.*?)«/s.exec((await tools.use("search", { query, regex })).text)?.[1];
  expect(await marked("^second.*$")).toBe("second LINE");
  expect(await marked("line$")).toBe("line");
  expect(await marked("(?i)^SECOND")).toBe("second");
  expect(await marked("^SECOND")).toBeUndefined();
  expect(await marked("First.*third")).toBeUndefined();
  expect(await marked("[^x]+")).toBe("First line");
  expect(await marked("^third$")).toBe("third");
  expect(await marked("nothing|thir")).toBe("thir");
});

test.each(["(", "a(?=b)", "\\1", "a{2000}", "((a{30}){30}){2}", "[z-a]", "*"])(
  "%s is refused in words a model can act on",
  async (query) => {
    const tools = bench();
    await tools.say("text");
    const answer = await tools.use("search", { query, regex });
    expect(answer.isError).toBe(true);
    expect(answer.text).toMatch(
      /^session_search: the query (is not a valid RE2 regular expression: |has too many repetitions)/,
    );
    expect(answer.text.length).toBeLessThan(300);
  },
);

test.each(["(a+)+$", "(a|aa)+$", "(a|a?)+b", "(.*)*x", "(x+x+)+y"])(
  "%s on 100 KB of one letter comes to its end",
  async (query) => {
    const tools = bench();
    await tools.say(`${"a".repeat(100_000)}!`);
    await tools.say("the end of it: aaa");
    const { text, isError } = await tools.use("search", { query, regex });
    expect(isError).toBe(false);
    expect(text).toContain("everything was looked at");
  },
);

describe("a long line", () => {
  test("gives the place of a match at any distance, whatever the expression costs", async () => {
    const cost = fc.nat({ max: 80 }).map((times) => `needle\\d(zz){0,${times}}`);
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: 60_000 }),
        fc.constantFrom("x", "😀"),
        cost,
        async (at, unit, query) => {
          const tools = bench();
          const text = `${unit.repeat(at)}needle7${unit.repeat(60_000)}`;
          await tools.say(text);
          const answer = await tools.use("search", { query, regex });
          expect(answer.text).toContain("»needle7«");
          const offset = Math.max(0, text.indexOf("needle") - 200);
          expect(proposed(answer.text, "read it: ")).toEqual({ at: 1, offset });
        },
      ),
      { numRuns: 40 },
    );
  });

  test("has one beginning and one end", async () => {
    const tools = bench();
    await tools.say(`${"x".repeat(50_000)}y${"x".repeat(50_000)}`);
    for (const query of ["^y", "y$", "x^", "\\bx{3}y"])
      expect((await tools.use("search", { query, regex })).text).toContain("Nothing found");
    expect((await tools.use("search", { query: "x{3}y", regex })).text).toContain("»xxxy«");
  });
});

test("inputs of tools are searched as the JSON they are shown as", async () => {
  const tools = bench();
  const input = { path: "src/main.ts", text: "x".repeat(70_000) };
  await tools.say(assistantMessage([{ type: "tool_call", id: "c", name: "write_file", input }]));
  const found = await tools.use("search", { query: '"path":"src/\\w+\\.ts","text":"x', regex });
  expect(found.text).toContain('»"path":"src/main.ts","text":"x«');
  expect((await tools.use("search", { query: "^write_\\w+$", regex })).text).toContain(
    "»write_file«",
  );
});

test("a search that runs out of time goes on where it stopped, within a message too", async () => {
  const tools = bench({ timeoutMs: 1 });
  await tools.say("needle at the beginning");
  await tools.say(`${"hay \n".repeat(200_000)}needle at the end\n^`);
  await tools.say("x".repeat(2_000_000));
  const rows: string[] = [];
  const cursors = new Set<unknown>();
  for (let input: Record<string, unknown> | null = { query: "^needle", regex }; input !== null; ) {
    const { text } = await tools.use("search", input);
    rows.push(...[...text.matchAll(/»needle« at the (\w+)/g)].map(([, where]) => where ?? ""));
    input = proposed(text, "Go on: ");
    expect(cursors.has(input?.["cursor"])).toBe(false);
    cursors.add(input?.["cursor"]);
  }
  expect(rows).toEqual(["end", "beginning"]);
  expect(cursors.size).toBeGreaterThan(3);
});

test("a cursor into a session that was deleted is refused", async () => {
  const tools = bench();
  await tools.say("needle");
  const answer = await tools.use("search", { query: "needle", regex, cursor: "5@gone" });
  expect([answer.isError, answer.text]).toEqual([true, expect.stringContaining("without cursor")]);
});

test.each([
  ["a literal search", { query: `${"a".repeat(100)}!` }],
  ["an expression", { query: "(a+)+[bc]$", regex }],
  ["a costly expression", { query: "(?i)([a-z]+[0-9]?){25}[!?]x", regex }],
])("other work goes on during %s", async (_, input) => {
  const tools = bench({ timeoutMs: 300 });
  await tools.say(`${"a".repeat(6_000_000)}!`);
  let turns = 0;
  let isDone = false;
  const others = (async () => {
    for (; !isDone; turns++) await new Promise(setImmediate);
  })();
  await tools.use("search", input);
  isDone = true;
  await others;
  expect(turns).toBeGreaterThan(1);
});

test("an expression is not looked for in other users' logs, nor in those of other agents", async () => {
  const log = new InMemoryConversationLog();
  const tools = bench({ log });
  await tools.say("needle of eve", { ...ada, userId: "eve" });
  await tools.say("needle of nobody", { ...ada, userId: null });
  await tools.say("needle of another agent", { ...ada, agentId: "other" });
  const { text } = await tools.use("search", { query: "needle", regex });
  expect(text).toBe("[Nothing found; everything was looked at.]");
});
