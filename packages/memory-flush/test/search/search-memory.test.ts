import { InMemoryFilesystem } from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { MemoryFiles } from "../../src/files/memory-files.js";
import { type MemorySearch, searchMemory } from "../../src/search/search-memory.js";

const ada = { agentId: "agent", userId: "ada", sessionId: "one" };

async function memoryOf(contents: Readonly<Record<string, string>>) {
  const filesystem = new InMemoryFilesystem();
  for (const [path, text] of Object.entries(contents))
    await filesystem.write(ada, path, new TextEncoder().encode(text));
  const files = new MemoryFiles(filesystem);
  return async (query: string, more: Partial<MemorySearch> = {}) => {
    const { signal } = new AbortController();
    const found = await searchMemory(files, ada, { query, maxResults: 10, signal, ...more });
    return { ...found, places: found.finds.map(({ path, line }) => `${path}:${line}`) };
  };
}

/** About 60 bytes a line, all different. */
function manyNotes(count: number): string {
  const lines: string[] = [];
  for (let index = 0; index < count; index++)
    lines.push(`- Note ${index} says that ${index % 97} is a number and tea a drink.`);
  return lines.join("\n");
}

describe("a memory larger than what is looked at", () => {
  test("is looked at from the newest notes on, and the answer says so", async () => {
    const search = await memoryOf({
      "MEMORY.md": "- tea zero",
      "memory/2026-03-05.md": "- tea one\n- tea two",
      "memory/2026-03-04.md": "- tea three\n- tea four",
      "memory/2026-03-03.md": "- tea five",
    });
    const all = await search("tea");
    expect(all.isPartial).toBe(false);
    expect(all.finds).toHaveLength(6);
    // MEMORY.md, the newest day and the last line of the day before.
    const some = await search("tea", { maxBytes: 10 + 19 + 11 });
    expect(some.isPartial).toBe(true);
    expect(some.places).toEqual([
      "MEMORY.md:1",
      "memory/2026-03-05.md:2",
      "memory/2026-03-05.md:1",
      "memory/2026-03-04.md:2",
    ]);
    const exactly = await search("tea", { maxBytes: 10 + 19 + 22 + 10 });
    expect(exactly.isPartial).toBe(false);
  });
});

test("days are newest first wherever they are, and there may be many", async () => {
  const days: Record<string, string> = {};
  for (let day = 10; day < 40; day++) {
    const date = new Date(Date.UTC(2026, 0, day)).toISOString().slice(0, 10);
    days[day < 25 ? `memory/archive/${date}.md` : `memory/${date}.md`] = `- tea ${day}`;
  }
  const search = await memoryOf(days);
  const { finds } = await search("tea", { maxResults: 50 });
  const expected = Array.from({ length: 30 }, (_, index) => `tea ${39 - index}`);
  expect(finds.map(({ text }) => text)).toEqual(expected);
});

test("a note is found where the blocks of a large file meet, under its line number", async () => {
  const lines = manyNotes(20_000).split("\n");
  for (let index = 500; index < lines.length; index += 500) lines[index] += ` needle${index}`;
  const search = await memoryOf({ "memory/2026-03-05.md": lines.join("\n") });
  for (let index = 500; index < lines.length; index += 6_500)
    expect((await search(`needle${index}`)).places).toEqual([`memory/2026-03-05.md:${index + 1}`]);
});

test("of more matches than are kept, the best are found wherever they stand", async () => {
  const notes = manyNotes(12_000).split("\n");
  for (const index of [3, 6_000, 11_990]) notes[index] = `- Tea, tea and tea: number ${index}.`;
  const search = await memoryOf({ "memory/2026-03-05.md": notes.join("\n") });
  expect((await search("tea", { maxResults: 4 })).places).toEqual([
    "memory/2026-03-05.md:11991",
    "memory/2026-03-05.md:6001",
    "memory/2026-03-05.md:4",
    "memory/2026-03-05.md:12000",
  ]);
});

test("others work while it searches, and an aborted search ends with its reason", async () => {
  const search = await memoryOf({ "memory/2026-03-05.md": manyNotes(60_000) });
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const { finds } = await search("tea number drink", { maxResults: 50 });
  isDone = true;
  expect(finds).toHaveLength(50);
  expect(turns).toBeGreaterThan(3);

  const controller = new AbortController();
  setImmediate(() => controller.abort(new Error("enough")));
  await expect(search("tea", { signal: controller.signal })).rejects.toThrow("enough");
});

test("one line of megabytes is searched in pieces", async () => {
  const text = `# Log\n\n- ${"lorem ipsum ".repeat(100_000)}needle ${"dolor sit ".repeat(100_000)}\n- after`;
  const search = await memoryOf({ "memory/2026-03-05.md": text });
  expect((await search("needle")).places).toEqual(["memory/2026-03-05.md:3"]);
  expect((await search("after")).places).toEqual(["memory/2026-03-05.md:4"]);
});
