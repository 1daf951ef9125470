import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lineSearch } from "../../src/tools/line-search.js";
import { literalMatches } from "../../src/tools/literal-matches.js";
import { put, toolBench } from "./tool-bench.js";

/** Text in which a search that starts anew at every place takes hours, and one that remembers takes a moment. */
const monotonous = Buffer.alloc(32_000_000, "a");
const nearly = `${"a".repeat(20_000)}b${"a".repeat(20_000)}`;

describe("text that nearly matches everywhere", () => {
  test("is searched by grep_files", async () => {
    const bench = toolBench();
    await put(bench.filesystem, "a.txt", monotonous);
    const { text } = await bench.use("grep_files", { pattern: nearly });
    expect(text).toBe("[Nothing found; 1 file searched.]");
  });

  test("is searched by edit_file", async () => {
    const bench = toolBench();
    await put(bench.filesystem, "a.txt", monotonous);
    const input = { path: "a.txt", old_string: nearly, new_string: "x" };
    expect((await bench.use("edit_file", input)).text).toContain("occurs 0 times");
  });

  test("leaves places to let others work", () => {
    const found = [...lineSearch(nearly, false).search(monotonous.toString())];
    expect(found.length).toBeGreaterThan(20);
    expect(found.every((each) => each === undefined)).toBe(true);
  });
});

test("the matches of a text are those that splitting finds, however the search goes about it", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(
      word,
      fc.array(word),
      fc.constantFrom(0, 1_000_000),
      (pattern, words, cheapCost) => {
        const text = words.join("");
        const spans = [...literalMatches(pattern, text, cheapCost)].filter(
          (each) => each !== undefined,
        );
        const pieces = text.split(pattern);
        expect(spans.length).toBe(pieces.length - 1);
        for (const { start, end } of spans) expect(text.slice(start, end)).toBe(pattern);
        let end = 0;
        const between = spans.map((span) => {
          const piece = text.slice(end, span.start);
          end = span.end;
          return piece;
        });
        expect([...between, text.slice(end)]).toEqual(pieces);
      },
    ),
  );
});

test("a search goes on where it is told to, however it goes about it", () => {
  for (const cheapCost of [0, 1_000_000]) {
    const found = literalMatches("aa", "aaaaaaaaaa", cheapCost);
    expect(found.next().value).toEqual({ start: 0, end: 2 });
    expect(found.next(5).value).toEqual({ start: 5, end: 7 });
    expect(found.next(1).value).toEqual({ start: 7, end: 9 });
    expect(found.next().done).toBe(true);
  }
});

test.each([
  ["is long", "x".repeat(1_001)],
  ["repeats much", "a{900}".repeat(100)],
])("an expression that %s is refused before it is compiled", async (_, pattern) => {
  const bench = toolBench();
  const { text, isError } = await bench.use("grep_files", { pattern, regex: true });
  expect([isError, text.length < 300]).toEqual([true, true]);
  expect(text).toMatch(/may have at most 1000 characters|has too many repetitions/);
});

test("braces that are text, and small repeats, are no reason to refuse an expression", async () => {
  const bench = toolBench();
  await put(bench.filesystem, "a.txt", "id {90000} xxx\n");
  for (const pattern of ["\\{90000\\}", "\\{90000}", "x{3}", "x{1,200}"])
    expect((await bench.use("grep_files", { pattern, regex: true })).text).toContain("a.txt:1:");
});

test("a text that occurs more often than a list could hold is not replaced", async () => {
  const bench = toolBench();
  await put(bench.filesystem, "a.txt", Buffer.alloc(1_000_001, "a"));
  const input = { path: "a.txt", old_string: "a", new_string: "b", replace_all: true };
  const { text, isError } = await bench.use("edit_file", input);
  expect(isError).toBe(true);
  expect(text).toContain("1000001 times");
});

test("half of a surrogate pair is found nowhere: an edit must not tear a character apart", async () => {
  const bench = toolBench();
  await put(bench.filesystem, "a.txt", "a\u{1f600}b");
  for (const old_string of ["\ud83d", "\ude00b"]) {
    const answer = await bench.use("edit_file", { path: "a.txt", old_string, new_string: "x" });
    expect(answer.isError).toBe(true);
  }
  expect(await bench.read("a.txt")).toBe("a\u{1f600}b");
});

test.each([
  ["glob_files", "pattern"],
  ["grep_files", "glob"],
])(
  "%s lets other work go on while a %s is slow, and ends when it is told to",
  async (name, field) => {
    const bench = toolBench();
    let seed = 1;
    const letter = (): string => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % 2 === 0 ? "a" : "b";
    };
    for (let index = 0; index < 3_000; index++)
      await put(bench.filesystem, `${Array.from({ length: 200 }, letter).join("")}${index}`, "");
    const controller = new AbortController();
    const reason = new Error("enough");
    // Which characters can still begin a match differs from file to file: nothing learnt of one helps with the next.
    const input = { pattern: "x", [field]: `*a${"?".repeat(150)}zz` };
    const running = bench.use(name, input, undefined, controller.signal);
    setTimeout(() => controller.abort(reason), 1);
    await expect(running).rejects.toBe(reason);
  },
);
