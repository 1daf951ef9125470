import { InMemoryFilesystem, InvalidInputError } from "@holdfast/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fileTools } from "../../src/tools/file-tool.js";
import { grepFilesTool } from "../../src/tools/grep-files.js";
import { lineSearch, type Span } from "../../src/tools/line-search.js";
import { searchFiles, searchLimits } from "../../src/tools/search-files.js";
import { ada, put, SharingFilesystem, toolBench } from "./tool-bench.js";

test("finds literal text by default, case as given, in the user's files and in the shared ones", async () => {
  const filesystem = await new SharingFilesystem().share("knowledge/k.md", "a.c here");
  const bench = toolBench({ filesystem, virtual: { "skills/x/SKILL.md": "also a.c" } });
  await put(filesystem, "notes/a.txt", "abc\na.c and a.c\r\nA.C");
  const { text } = await bench.use("grep_files", { pattern: "a.c" });
  expect(text).toBe(
    [
      "knowledge/k.md:1: a.c here",
      "notes/a.txt:2: a.c and a.c ",
      "skills/x/SKILL.md:1: also a.c",
      "[3 rows; 3 files searched.]",
    ].join("\n"),
  );
});

test("finds regular expressions, and says what is wrong with one", async () => {
  const bench = toolBench();
  await put(bench.filesystem, "a.txt", "abc\na.c\nABC");
  const grep = (pattern: string) => bench.use("grep_files", { pattern, regex: true });
  expect((await grep("^a.c$")).text).toContain("a.txt:1: abc\na.txt:2: a.c\n[2 rows");
  expect((await grep("(?i)^ABC$")).text).toContain("a.txt:1: abc\na.txt:3: ABC\n[2 rows");
  for (const pattern of ["(a", "(?=a)", "(a)\\1", "(?:[a-z]{200}){5}", "[a-z]{0,400}x"])
    expect((await grep(pattern)).isError).toBe(true);
});

test("looks only where it is told to", async () => {
  const bench = toolBench();
  const paths = ["a.md", "notes/a.md", "notes/a.txt", "notes/deep/a.md", "agents/x/a.md"];
  for (const path of paths) await put(bench.filesystem, path, "needle");
  const found = async (input: object) => {
    const { text } = await bench.use("grep_files", { pattern: "needle", ...input });
    return text.split("\n").flatMap((row) => /^([^[:]+):/.exec(row)?.[1] ?? []);
  };
  expect(await found({})).toEqual(["a.md", "notes/a.md", "notes/a.txt", "notes/deep/a.md"]);
  expect(await found({ path: "notes" })).toEqual(["notes/a.md", "notes/a.txt", "notes/deep/a.md"]);
  expect(await found({ path: "notes", glob: "*.md" })).toEqual(["notes/a.md", "notes/deep/a.md"]);
  expect(await found({ path: "notes", glob: "deep/*" })).toEqual(["notes/deep/a.md"]);
  expect(await found({ path: "notes/a.txt" })).toEqual(["notes/a.txt"]);
  expect(await found({ path: "agents" })).toEqual(["agents/x/a.md"]);
  expect((await bench.use("grep_files", { pattern: "x", path: "/etc" })).isError).toBe(true);
});

describe("a line of 10 MB", () => {
  const hits = [1_000_000, 6_000_000, 9_999_000];
  const line = hits
    .map((at, index) => `${"lorem ipsum ".repeat(at).slice((hits[index - 1] ?? -6) + 6, at)}needle`)
    .join("");

  test.each([
    ["text", { pattern: "needle" }],
    ["a regular expression", { pattern: "n[e]+dl\\w", regex: true }],
  ])("%s is found with the char_offset at which read_file shows it", async (_, search) => {
    const bench = toolBench();
    await put(bench.filesystem, "a.json", `first\n${line}`);
    const { text } = await bench.use("grep_files", search);
    const offsets = [...text.matchAll(/^a\.json:2: \(char_offset (\d+)\)/gm)].map((row) =>
      Number(row[1]),
    );
    expect(offsets).toEqual(hits);
    expect(text.length).toBeLessThan(2_000);
    const there = { path: "a.json", offset: 2, char_offset: offsets[1] };
    expect((await bench.use("read_file", there)).text.startsWith("2\tneedle")).toBe(true);
  });
});

test("a long line searched in pieces gives the matches of the whole line, those at the edges too", () => {
  // Pieces have 32,768 characters, or 4,096 where the pattern is expensive, and overlap by 1,024.
  const edges = [0, 31_744, 32_768, 63_488, 64_512, 95_232];
  const place = fc.tuple(fc.constantFrom(...edges), fc.integer({ min: -14, max: 14 }));
  const words = fc.tuple(place, fc.constantFrom("needle", "needles", "🌤x", "needle needle"));
  fc.assert(
    fc.property(
      fc.array(words, { minLength: 1, maxLength: 4 }),
      fc.constantFrom("needle", "^needle", "needle$", "needle\\b", "🌤.", "needle.{0,100}needle"),
      fc.constantFrom(0, 40_000),
      (placed, pattern, rest) => {
        let line = "";
        const sorted = placed.map(([[edge, by], word]) => [Math.max(0, edge + by), word] as const);
        for (const [at, word] of sorted.sort(([a], [b]) => a - b))
          line = line.padEnd(at, "- ") + word;
        line = line.padEnd(line.length + rest, "- ");
        const expected = [...line.matchAll(new RegExp(pattern, "gu"))].map((match) => match.index);
        expect([...spans(line, pattern)]).toEqual(expected);
      },
    ),
    {
      numRuns: 300,
      examples: [
        // The first match ends just before its piece does, and goes on behind it.
        [
          [
            [[31_744, -14], "needle needle"],
            [[31_744, 0], "needle needle"],
          ],
          "needle.{0,100}needle",
          0,
        ],
      ],
    },
  );
});

test("a piece of a line is no line: ^ and $ do not match at its edges", () => {
  const lineWith = (at: number) => `${"-".repeat(at)}needle${"-".repeat(40_000)}`;
  expect([...spans(lineWith(31_744), "^needle")]).toEqual([]);
  expect([...spans(lineWith(32_762), "needle$")]).toEqual([]);
  for (const at of [31_744, 32_762, 32_765])
    expect([...spans(lineWith(at), "needle")]).toEqual([at]);
});

describe("a search", () => {
  const search = async (
    bench: ReturnType<typeof toolBench>,
    limits: Partial<typeof searchLimits>,
    options: { pattern?: string; regex?: boolean; signal?: AbortSignal } = {},
  ) =>
    searchFiles(bench.view, {
      namespace: ada,
      pattern: "x",
      regex: false,
      files: await bench.view.files(ada),
      signal: new AbortController().signal,
      ...options,
      limits: { ...searchLimits, ...limits },
    });

  test.each([
    ["matches", { maxMatches: 5 }, "after 5 matches"],
    ["files", { maxFiles: 3 }, "after 3 files"],
    ["bytes", { maxBytes: 12 }, "after 12 bytes"],
    ["time", { timeoutMs: 0 }, "after 0 ms"],
  ])("says when it stopped early because of its %s", async (_, limits, stopped) => {
    const bench = toolBench();
    for (let index = 0; index < 10; index++) await put(bench.filesystem, `${index}.txt`, "x\nx\n");
    const report = await search(bench, limits);
    expect(report.stopped).toBe(stopped);
    const tool = grepFilesTool(fileTools("agent"), bench.view, { ...searchLimits, ...limits });
    const ctx = { userId: "ada", sessionId: "one" };
    const answer = await tool.execute?.({ pattern: "x" } as never, ctx as never);
    // On a busy machine no time at all may be over while the files are still being chosen.
    expect(typeof answer === "string" ? answer : JSON.stringify(answer)).toMatch(
      "timeoutMs" in limits ? /stopped after|took more than 0 ms/ : /stopped after/,
    );
  });

  test("shows so many matches of a line and says that there are more", async () => {
    const bench = toolBench();
    await put(bench.filesystem, "a.txt", `${"x".padEnd(300)}`.repeat(50));
    const { rows } = await search(bench, {});
    expect([rows.length, rows.at(-1)]).toEqual([11, "a.txt:1: … more matches in this line"]);
  });

  test("passes over files without text and files that are refused", async () => {
    const bench = toolBench({
      filesystem: new (class extends InMemoryFilesystem {
        override async read(...[namespace, path]: Parameters<InMemoryFilesystem["read"]>) {
          if (path === "link.txt") throw new InvalidInputError("a link");
          return super.read(namespace, path);
        }
      })(),
    });
    await put(bench.filesystem, "a.bin", Uint8Array.from([0x78, 0xff]));
    for (const path of ["b.txt", "link.txt"]) await put(bench.filesystem, path, "x");
    expect(await search(bench, {})).toMatchObject({
      rows: ["b.txt:1: x"],
      searched: 1,
      skipped: 2,
    });
  });

  test("lets other work go on and ends when it is told to", async () => {
    const bench = toolBench();
    await put(bench.filesystem, "a.txt", "lorem ipsum ".repeat(1_000_000));
    const controller = new AbortController();
    const reason = new Error("enough");
    const running = search(
      bench,
      {},
      { pattern: "(?:[a-z]+ ){3}[A-Z]", regex: true, signal: controller.signal },
    );
    // Only runs if the search pauses: it has far more to do than one turn allows.
    setTimeout(() => controller.abort(reason), 1);
    await expect(running).rejects.toBe(reason);
  });
});

function* spans(line: string, pattern: string): Generator<number> {
  const found = lineSearch(pattern, true).search(line);
  for (let next = found.next(); !next.done; next = found.next()) {
    const span: Span | undefined = next.value ?? undefined;
    if (span) yield span.start;
  }
}
