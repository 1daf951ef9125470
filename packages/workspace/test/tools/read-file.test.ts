import { tempDirectory } from "@holdfast/testing";
import { LocalFilesystem } from "@holdfast/workspace";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readWhole } from "./read-whole.js";
import { put, SharingFilesystem, toolBench } from "./tool-bench.js";

const runs = process.env["HOLDFAST_LONG"] === "1" ? 2_000 : 50;

/** Text of lines, some far longer than a page, with everything that could be mistaken for the end of one. */
const texts = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 60 }),
      fc.constantFrom("", "\r", "\n", "\n\n", "\r\n", "\t", "1\t", "\ufeff", "🌤", "\u2028", "\0"),
      fc
        .tuple(fc.constantFrom("a", "é", "漢", "🌤", "\r"), fc.nat(400))
        .map(([c, n]) => c.repeat(n)),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

describe("pages put together", () => {
  test("are the file, byte for byte, whatever the text", async () => {
    await fc.assert(
      fc.asyncProperty(
        texts,
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 32, max: 600 }),
        async (text, maxReadLines, maxReadBytes) => {
          const bench = toolBench({ maxReadLines, maxReadBytes });
          await put(bench.filesystem, "a.txt", text);
          const whole = await readWhole(
            (request) => bench.use("read_file", request),
            "a.txt",
            (page) => {
              const isBounded =
                Buffer.byteLength(page) <= maxReadBytes && page.split("\n").length <= maxReadLines;
              if (!isBounded) throw new Error("the page is too large");
            },
          );
          expect(Buffer.from(whole)).toEqual(Buffer.from(text));
        },
      ),
      { numRuns: runs },
    );
  });

  test.each([
    ["one line of 10 MB", "0123456789abcde🌤".repeat(588_236)],
    ["an empty file", ""],
    ["no final line feed, CR and a byte order mark", "\ufeffone\r\ntwo\rthree"],
  ])("are the file: %s", async (_, text) => {
    await using directory = await tempDirectory();
    const filesystem = new LocalFilesystem({ root: directory.path });
    const bench = toolBench({ filesystem, maxReadBytes: 262_144 });
    await put(bench.filesystem, "a.txt", text);
    const whole = await readWhole((request) => bench.use("read_file", request), "a.txt");
    expect(whole === text).toBe(true);
  });
});

test("lines are numbered, the note is a block of its own and says how to go on", async () => {
  const bench = toolBench();
  await put(bench.filesystem, "a.txt", "one\ntwo\nthree\n");
  const { blocks } = await bench.use("read_file", { path: "a.txt", offset: 2, limit: 2 });
  expect(blocks).toEqual([
    { type: "text", text: "2\ttwo\n3\tthree" },
    { type: "text", text: "[Lines 2 to 3 of 4; the file has 14 bytes. Go on with offset 4.]" },
  ]);
});

test("a line that fits no page is read on by characters", async () => {
  const bench = toolBench({ maxReadBytes: 1_000 });
  await put(bench.filesystem, "a.txt", `short\n${"x".repeat(5_000)}\nend`);
  expect((await bench.use("read_file", { path: "a.txt" })).text).toContain("Go on with offset 2.");
  const { text } = await bench.use("read_file", { path: "a.txt", offset: 2 });
  expect(text).toContain("Line 2 of 3, characters 0 to 998");
  expect(text).toContain("Go on with offset 2 and char_offset 998.");
  const last = await bench.use("read_file", { path: "a.txt", offset: 2, char_offset: 4_500 });
  expect(last.text.startsWith(`2\t${"x".repeat(500)}\n3\tend\n[`)).toBe(true);
});

test("a page of many short lines keeps to its bytes, numbers and line ends counted", async () => {
  const bench = toolBench({ maxReadBytes: 1_024 });
  await put(bench.filesystem, "a.txt", "x\n".repeat(5_000));
  const { blocks } = await bench.use("read_file", { path: "a.txt", offset: 1_000 });
  const page = blocks[0]?.type === "text" ? blocks[0].text : "";
  // 1,024 bytes hold 146 rows of `1000⇥x` and a line end each; the last has none.
  expect([page.split("\n").length, Buffer.byteLength(page)]).toEqual([146, 1_021]);
});

test("a limit beyond the page's is not heeded", async () => {
  const bench = toolBench({ maxReadLines: 3 });
  await put(bench.filesystem, "a.txt", "1\n2\n3\n4\n5");
  const { blocks } = await bench.use("read_file", { path: "a.txt", limit: 100 });
  expect(blocks[0]).toEqual({ type: "text", text: "1\t1\n2\t2\n3\t3" });
});

test("what is not there is said so", async () => {
  const bench = toolBench();
  await put(bench.filesystem, "dir/a.txt", "one");
  const problems: [object, string][] = [
    [{ path: "b.txt" }, "does not exist"],
    [{ path: "dir" }, "is a directory"],
    [{ path: "dir/a.txt", offset: 2 }, "has 1 lines; there is no line 2"],
    [{ path: "dir/a.txt", char_offset: 4 }, "has 3 characters"],
    [{ path: "../a.txt" }, '".."'],
    [{ path: "/etc/passwd" }, "is absolute"],
    [{ path: "a\0b" }, "NUL"],
  ];
  for (const [input, words] of problems) {
    const { text, isError } = await bench.use("read_file", input);
    expect([isError, text]).toEqual([true, expect.stringContaining(words)]);
  }
});

describe("files that are not text", () => {
  const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);

  test("an image comes as one, up to the cap", async () => {
    const bench = toolBench({ maxDataBytes: 20 });
    await put(bench.filesystem, "a.PNG", png);
    await put(bench.filesystem, "large.png", Buffer.concat([png, png]));
    const data = Buffer.from(png).toString("base64");
    expect((await bench.use("read_file", { path: "a.PNG" })).blocks).toEqual([
      { type: "data", mediaType: "image/png", source: { kind: "base64", data }, name: "a.PNG" },
    ]);
    const { text } = await bench.use("read_file", { path: "large.png" });
    expect(text).toContain("binary file (image/png) of 22 bytes");
  });

  test("a file that only has the name of an image is not shown as one: providers refuse it", async () => {
    const bench = toolBench();
    await put(bench.filesystem, "a.png", "just text");
    await put(bench.filesystem, "b.png", Uint8Array.from([0xff, 0xfe, 0, 1]));
    expect((await bench.use("read_file", { path: "a.png" })).text).toContain("1\tjust text");
    const { blocks } = await bench.use("read_file", { path: "b.png" });
    expect(blocks).toEqual([{ type: "text", text: expect.stringContaining("of 4 bytes") }]);
  });

  test("text that begins like a PDF file is text unless it is named so", async () => {
    const bench = toolBench();
    for (const path of ["a.txt", "a.pdf"]) await put(bench.filesystem, path, "%PDF-1.7 …");
    expect((await bench.use("read_file", { path: "a.txt" })).text).toContain("1\t%PDF-1.7 …");
    expect((await bench.use("read_file", { path: "a.pdf" })).blocks[0]?.type).toBe("data");
  });
});

describe("what all users share", () => {
  test("is read where the user has nothing of the name", async () => {
    const filesystem = await new SharingFilesystem().share("templates/a.md", "shared");
    const bench = toolBench({ filesystem });
    expect((await bench.use("read_file", { path: "templates/a.md" })).text).toContain("1\tshared");
    await put(filesystem, "templates/a.md", "mine");
    expect((await bench.use("read_file", { path: "templates/a.md" })).text).toContain("1\tmine");
  });

  test("comes first at the names that are meant for it, so that nobody can put a skill in its place", async () => {
    const filesystem = await new SharingFilesystem().share("skills/a/SKILL.md", "the operator's");
    await put(filesystem, "skills/a/SKILL.md", "left by a command");
    await put(filesystem, "skills/b/SKILL.md", "left by a command");
    const bench = toolBench({ filesystem, virtual: { "skills/b/SKILL.md": "given as an option" } });
    const read = async (path: string) => (await bench.use("read_file", { path })).text;
    expect(await read("skills/a/SKILL.md")).toContain("the operator's");
    expect(await read("skills/b/SKILL.md")).toContain("given as an option");
  });
});

test("no user reads another's file, and no session without a user another's", async () => {
  const bench = toolBench();
  await put(bench.filesystem, "a.txt", "ada's");
  for (const other of [
    { userId: "eve", sessionId: "one" },
    { userId: null, sessionId: "one" },
  ])
    expect((await bench.use("read_file", { path: "a.txt" }, other)).isError).toBe(true);
});
