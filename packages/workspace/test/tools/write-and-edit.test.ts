import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { put, SharingFilesystem, toolBench } from "./tool-bench.js";

test("write_file makes files and replaces them", async () => {
  const bench = toolBench();
  const { text } = await bench.use("write_file", { path: "./notes//a.md", content: "é" });
  expect(text).toBe('Wrote 2 bytes to "notes/a.md".');
  await bench.use("write_file", { path: "notes/a.md", content: "" });
  expect(await bench.read("notes/a.md")).toBe("");
});

test("text that no file can hold is refused, and nothing is written", async () => {
  const bench = toolBench();
  await put(bench.filesystem, "b.txt", "x");
  const write = await bench.use("write_file", { path: "a.txt", content: "half \ud83c" });
  const edit = { path: "b.txt", old_string: "x", new_string: "\udf24" };
  expect([write.isError, (await bench.use("edit_file", edit)).isError]).toEqual([true, true]);
  expect([await bench.read("a.txt"), await bench.read("b.txt")]).toEqual([null, "x"]);
});

const readOnly = [
  "AGENTS.md",
  "agents.MD",
  "knowledge/a.md",
  "./knowledge//a.md",
  "KNOWLEDGE/a.md",
  "skills/a/SKILL.md",
  "ſkills/a/SKILL.md",
  "s\u200bkills/a/SKILL.md",
  "ｓｋｉｌｌｓ/a",
  "subagents/a.md",
  "agents/agent/sessions/one.log.jsonl",
  "large_tool_results/one/x.txt",
  "Large_Tool_Results/one/x.txt",
  `elsewhere/agent/one/look-${"0".repeat(32)}.txt`,
  `Elsewhere/agent/one/look-${"F".repeat(32)}.JSON`,
  "conversation_history/one/x.md",
  "data/x.png",
  "data",
];

test.each(readOnly)("%s can be neither written nor edited", async (path) => {
  const bench = toolBench();
  await put(bench.filesystem, path, "kept");
  for (const [name, input] of [
    ["write_file", { path, content: "changed" }],
    ["edit_file", { path, old_string: "kept", new_string: "changed" }],
  ] as const) {
    const { text, isError } = await bench.use(name, input);
    expect([isError, text]).toEqual([true, expect.stringContaining("read-only")]);
  }
  expect(await bench.read(path)).toBe("kept");
});

test.each([
  "MEMORY.md",
  "memory/a.md",
  "plans/a.md",
  "database/a",
  "AGENTS.md.bak",
  "my/skills/a",
  "x/y/z-1.txt",
])("%s can be written", async (path) => {
  const bench = toolBench();
  expect((await bench.use("write_file", { path, content: "x" })).isError).toBe(false);
  expect(await bench.read(path)).toBe("x");
});

describe("edit_file", () => {
  test("replaces exactly what was named, character by character", async () => {
    const word = fc.constantFrom(
      "$&",
      "$1",
      "$$",
      "\\",
      ".*",
      "(",
      "a",
      "é",
      "🌤",
      "\r\n",
      "\n",
      " ",
    );
    const text = fc.array(word, { maxLength: 12 }).map((parts) => parts.join(""));
    const some = fc.array(word, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(""));
    await fc.assert(
      fc.asyncProperty(text, some, text, text, async (before, from, to, after) => {
        const content = before + from + after;
        const times = occurrences(content, from);
        const bench = toolBench();
        await put(bench.filesystem, "a.txt", content);
        const input = { path: "a.txt", old_string: from, new_string: to };
        const once = await bench.use("edit_file", input);
        const isPossible = times === 1 && from !== to;
        expect(once.isError).toBe(!isPossible);
        const at = content.indexOf(from);
        expect(await bench.read("a.txt")).toBe(
          isPossible ? content.slice(0, at) + to + content.slice(at + from.length) : content,
        );
        if (times > 1 && from !== to) {
          expect(once.text).toContain(`occurs ${times} times`);
          await bench.use("edit_file", { ...input, replace_all: true });
          expect(await bench.read("a.txt")).toBe(content.replaceAll(from, () => to));
        }
      }),
      { numRuns: 300 },
    );
  });

  test("keeps line endings and the byte order mark, and says what old_string lacks", async () => {
    const bench = toolBench();
    await put(bench.filesystem, "a.txt", "\ufeffone\r\ntwo\r\nthree");
    const input = { path: "a.txt", old_string: "one\ntwo", new_string: "x" };
    expect((await bench.use("edit_file", input)).text).toContain("CR LF");
    await bench.use("edit_file", { path: "a.txt", old_string: "two", new_string: "2" });
    expect(await bench.read("a.txt")).toBe("\ufeffone\r\n2\r\nthree");
  });

  test("leaves alone what is missing, not text, or shared", async () => {
    const filesystem = await new SharingFilesystem().share("templates/a.md", "text");
    const bench = toolBench({ filesystem });
    await put(filesystem, "b.bin", Uint8Array.from([0xff]));
    const change = { old_string: "text", new_string: "x" };
    const refusals: [string, string][] = [
      ["missing.md", "There is no file"],
      ["b.bin", "not a text file"],
      ["templates/a.md", "shared by all users"],
    ];
    for (const [path, words] of refusals)
      expect((await bench.use("edit_file", { path, ...change })).text).toContain(words);
    expect(await bench.read("templates/a.md")).toBeNull();
  });

  test("edits of one file at the same time lose nothing", async () => {
    const bench = toolBench();
    const words = Array.from({ length: 20 }, (_, index) => `<${index}>`);
    await put(bench.filesystem, "a.txt", words.join(""));
    await Promise.all(
      words.map((word) =>
        bench.use("edit_file", { path: "a.txt", old_string: word, new_string: "done" }),
      ),
    );
    expect(await bench.read("a.txt")).toBe("done".repeat(20));
  });

  test("a replacement that would fill the memory is refused", async () => {
    const bench = toolBench();
    await put(bench.filesystem, "a.txt", "a".repeat(100_000));
    const input = { path: "a.txt", old_string: "a", new_string: "b".repeat(10_000) };
    const { isError, text } = await bench.use("edit_file", { ...input, replace_all: true });
    expect([isError, text]).toEqual([true, expect.stringContaining("more than")]);
  });
});

function occurrences(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++;
  return count;
}
