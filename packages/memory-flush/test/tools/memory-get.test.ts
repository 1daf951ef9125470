import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkMemoryPath } from "../../src/tools/memory-get.js";
import { memoryBench } from "./memory-bench.js";

const runs = process.env["HOLDFAST_LONG"] === "1" ? 500 : 40;
const DAY = "memory/2026-03-04.md";

test("lines are numbered and the note after them says where they are", async () => {
  const bench = memoryBench();
  await bench.put(DAY, "one\ntwo\nthree\nfour");
  expect((await bench.get(DAY, { startLine: 2, endLine: 3 })).blocks).toEqual([
    { type: "text", text: "2| two\n3| three" },
    { type: "text", text: `[Lines 2 to 3 of 4 of ${DAY}.]` },
  ]);
  expect((await bench.get(DAY, { startLine: 4, endLine: 99 })).text).toBe(
    `4| four\n[Line 4 of 4 of ${DAY}. End of file.]`,
  );
});

test("a page has 200 lines and says how to go on", async () => {
  const bench = memoryBench();
  await bench.put("MEMORY.md", "x\n".repeat(450));
  const { blocks, text } = await bench.get("MEMORY.md");
  expect(blocks[0]?.text.split("\n")).toHaveLength(200);
  expect(text).toContain("[Lines 1 to 200 of 451 of MEMORY.md. Go on with startLine 201.]");
});

test("a line longer than a page is cut between characters, with a note, and the next line can be read", async () => {
  const bench = memoryBench();
  await bench.put(DAY, `${"🌤".repeat(10_000)}\nafter`);
  const { blocks, text } = await bench.get(DAY);
  expect(blocks[0]?.text).toMatch(/^1\| (🌤)+$/u);
  expect(Buffer.byteLength(blocks[0]?.text ?? "")).toBeLessThanOrEqual(16_384);
  expect(text).toContain("It has 40000 bytes, more than fit a page");
  expect(text).toContain("Go on with startLine 2.");
  expect((await bench.get(DAY, { startLine: 2 })).text).toContain("2| after");
});

test("lines beyond the end are refused with how many there are", async () => {
  const bench = memoryBench();
  await bench.put(DAY, "one\ntwo");
  const { text, isError } = await bench.get(DAY, { startLine: 3 });
  expect(isError).toBe(true);
  expect(text).toBe(`${DAY} has 2 lines; there is no line 3.`);
  expect((await bench.get(DAY, { startLine: 2, endLine: 1 })).isError).toBe(true);
});

test("a file that is not there is told apart from an empty one, and others are named", async () => {
  const bench = memoryBench();
  expect(await bench.get("MEMORY.md")).toMatchObject({ isError: false });
  await bench.put("MEMORY.md", "");
  expect((await bench.get("MEMORY.md")).text).toBe("MEMORY.md is empty.");
  await bench.put(DAY, "one");
  const { text, isError } = await bench.get("memory/2020-01-01.md");
  expect(isError).toBe(true);
  expect(text).toBe(`"memory/2020-01-01.md" does not exist. There is: ${DAY}.`);
});

test("pages put together are the file, whatever the text", async () => {
  const lines = fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }).map((line) => line.replaceAll("\n", "")),
    fc.constantFrom("", "\r", "12| x", "\ufeff", "\u2028", "\0"),
    fc.tuple(fc.constantFrom("é", "漢", "🌤"), fc.nat(1_000)).map(([c, n]) => c.repeat(n)),
  );
  // Repeated, so that there are several pages.
  const texts = fc
    .tuple(fc.array(lines, { minLength: 1, maxLength: 12 }), fc.integer({ min: 1, max: 40 }))
    .map(([part, times]) => Array.from({ length: times }, () => part.join("\n")).join("\n"));
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      fc.pre(text !== "");
      const bench = memoryBench();
      await bench.put(DAY, text);
      const rows: string[] = [];
      for (let next: number | undefined = 1; next !== undefined; ) {
        const { blocks, isError } = await bench.get(DAY, { startLine: next });
        expect(isError).toBe(false);
        const page = blocks[0]?.text ?? "";
        expect(Buffer.byteLength(page)).toBeLessThanOrEqual(16_384);
        const numbered = page.split("\n");
        expect(numbered.length).toBeLessThanOrEqual(200);
        for (const row of numbered) {
          const prefix = `${rows.length + 1}| `;
          if (!row.startsWith(prefix)) throw new Error(`row ${rows.length + 1} is not numbered`);
          rows.push(row.slice(prefix.length));
        }
        const more = /Go on with startLine (\d+)\.\]$/.exec(blocks[1]?.text ?? "")?.[1];
        next = more === undefined ? undefined : Number(more);
      }
      expect(rows.join("\n") === text).toBe(true);
    }),
    { numRuns: runs },
  );
});

describe("a path that does not name a file of the memory is refused", () => {
  test.each([
    "AGENTS.md",
    "memory",
    "memory/",
    "memory/.",
    "memory.md",
    "Memory/2026-03-04.md",
    "MEMORY/2026-03-04.md",
    "MEMORY.md/x",
    "MEMORY.MD",
    "memory/../AGENTS.md",
    "memory/../memory/2026-03-04.md",
    "./../MEMORY.md",
    "../ada/MEMORY.md",
    "/MEMORY.md",
    "memory/..\\..\\AGENTS.md",
    "memory\\2026-03-04.md",
    "C:MEMORY.md",
    "memory/2026-03-04.md:stream",
    "memory/2026-03-04.md\0.png",
    "MEMORY.md\0",
    "MEMORY.md ",
    "ＭＥＭＯＲＹ.md",
    "memory\u200b/2026-03-04.md",
    "agents/agent/sessions/one.log.jsonl",
    "memoryx/2026-03-04.md",
    "",
  ])("%j", async (path) => {
    expect(() => checkMemoryPath(path)).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
    const { text, isError } = await memoryBench().get(path);
    expect(isError).toBe(true);
    expect(text).toMatch(/^memory_get: path ".*" .+\.$/);
  });

  test.each(["./MEMORY.md", "memory//archive/./2026-03-04.md"])("but %j is one", async (path) => {
    const bench = memoryBench();
    await bench.put("MEMORY.md", "here");
    await bench.put("memory/archive/2026-03-04.md", "here");
    expect((await bench.get(path)).text).toContain("1| here");
  });

  test("whatever is put together from such parts", () => {
    const parts = fc.constantFrom(
      "memory",
      "MEMORY.md",
      "..",
      ".",
      "/",
      "\\",
      "\0",
      "a.md",
      "Memory",
    );
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 8 }), (list) => {
        let plain: string;
        try {
          plain = checkMemoryPath(list.join(""));
        } catch (error) {
          expect(error).toMatchObject({ code: "INVALID_INPUT" });
          return;
        }
        expect(plain).toMatch(/^(MEMORY\.md|memory\/[^\\\0]+)$/);
        expect(plain.split("/")).not.toContain("..");
      }),
      { numRuns: runs * 10 },
    );
  });
});
