import { characterEstimate } from "@holdfast/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { newNotes } from "../src/consolidation/new-notes.js";
import type { UserEntry } from "../src/consolidation/user-entries.js";
import { withoutNoteEnds } from "../src/files/memory-files.js";
import { headOf, linePieces, tailOf } from "../src/quote/cut-text.js";
import { alice, DAY, MemoryWorld } from "./memory-world.js";

const runs = process.env["HOLDFAST_LONG"] === "1" ? 3_000 : 60;
const counter = characterEstimate();
const line = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("- a fact", "", "## x", "é😀"),
);

test("notes read in any portions, while more are appended, are read whole, in order and once", async () => {
  const step = fc.record({
    append: fc.option(fc.tuple(fc.nat({ max: 2 }), fc.array(line, { maxLength: 6 })), { freq: 3 }),
    maxTokens: fc.integer({ min: 1, max: 60 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const world = new MemoryWorld();
      let entry: UserEntry = { consolidatedAt: 0, failures: 0, tidied: {}, consumed: {} };
      const read = new Map<string, string>();
      const take = async (maxTokens: number): Promise<boolean> => {
        const now = new Date(world.time);
        const notes = await newNotes(world.files, alice, entry, { maxTokens, counter, now });
        if (notes === null) return false;
        for (const { path, text } of notes.pages) read.set(path, (read.get(path) ?? "") + text);
        const before = JSON.stringify(entry.consumed);
        entry = { ...entry, consumed: { ...entry.consumed, ...notes.consumed } };
        expect(JSON.stringify(entry.consumed)).not.toBe(before);
        return true;
      };
      for (const { append, maxTokens } of steps) {
        if (append !== null) {
          const at = new Date(world.time - append[0] * DAY);
          const text = append[1].join("\n").replace(/\r/g, "");
          await world.files.appendNotes(alice, at, "notes", text || "-");
        }
        await take(maxTokens);
      }
      while (await take(50));
      for (const { path } of await world.files.days(alice)) {
        const whole = withoutNoteEnds((await world.files.read(alice, path)) ?? "");
        expect(squeezed(read.get(path) ?? "")).toBe(squeezed(whole));
      }
    }),
    { numRuns: runs },
  );
});

/** Portions that hold nothing but blank lines are passed over. */
function squeezed(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

test("the last line of today's notes waits until it is whole; that of an earlier day does not", async () => {
  const world = new MemoryWorld();
  const entry: UserEntry = { consolidatedAt: 0, failures: 0, tidied: {}, consumed: {} };
  const limits = { maxTokens: 1_000, counter, now: new Date(world.time) };
  const half = new TextEncoder().encode("- whole\n- ha");
  await world.filesystem.append(alice, "memory/2025-03-10.md", half);
  await world.filesystem.append(alice, "memory/2025-03-09.md", half);
  const notes = await newNotes(world.files, alice, entry, limits);
  expect(notes).toEqual({
    pages: [
      { path: "memory/2025-03-09.md", text: "- whole\n- ha" },
      { path: "memory/2025-03-10.md", text: "- whole\n" },
    ],
    consumed: { "memory/2025-03-09.md": 12, "memory/2025-03-10.md": 8 },
    hasMore: false,
  });
});

test("a file that became shorter was rewritten and is read from its beginning", async () => {
  const world = new MemoryWorld();
  const consumed = { "memory/2025-03-09.md": 500 };
  const entry: UserEntry = { consolidatedAt: 0, failures: 0, tidied: {}, consumed };
  const bytes = new TextEncoder().encode("- rewritten\n");
  await world.filesystem.write(alice, "memory/2025-03-09.md", bytes);
  const limits = { maxTokens: 1_000, counter, now: new Date(world.time) };
  const notes = await newNotes(world.files, alice, entry, limits);
  expect(notes?.pages).toEqual([{ path: "memory/2025-03-09.md", text: "- rewritten\n" }]);
  expect(notes?.consumed).toEqual({ "memory/2025-03-09.md": 12 });
});

test("pieces of a text put together are the text, and head and tail are whole lines of it that fit", () => {
  const text = fc.array(line, { maxLength: 40 }).map((lines) => lines.join("\n"));
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 50 }), (whole, maxTokens) => {
      expect(linePieces(whole, maxTokens, counter).join("")).toBe(whole);
      const head = headOf(whole, maxTokens, counter);
      const tail = tailOf(whole, maxTokens, counter);
      expect(whole.startsWith(head)).toBe(true);
      expect(whole.endsWith(tail)).toBe(true);
      for (const part of [head, tail])
        expect(counter.countText(part)).toBeLessThanOrEqual(maxTokens);
      if (head !== whole && head !== "") expect(head.endsWith("\n")).toBe(true);
      if (tail !== whole && tail !== "") expect(`\n${whole}`.endsWith(`\n${tail}`)).toBe(true);
    }),
    { numRuns: runs },
  );
});

test("a file that was rewritten and has grown beyond what was read is read from its beginning", async () => {
  const world = new MemoryWorld();
  const path = "memory/2025-03-09.md";
  const consumed = { [path]: 17 };
  const entry: UserEntry = { consolidatedAt: 0, failures: 0, tidied: {}, consumed };
  const text = "- something else\n- and more\n".replace("something", "somewhat");
  await world.filesystem.write(alice, path, new TextEncoder().encode(text));
  const limits = { maxTokens: 1_000, counter, now: new Date(world.time) };
  expect((await newNotes(world.files, alice, entry, limits))?.pages).toEqual([{ path, text }]);
});
