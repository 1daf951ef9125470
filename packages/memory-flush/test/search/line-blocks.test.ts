import fc from "fast-check";
import { expect, test } from "vitest";
import { lineBlocks } from "../../src/search/line-blocks.js";

/** The lines as they come, pieces of one put together. */
function linesFrom(text: string, from: number): Map<number, string> {
  const lines = new Map<number, string>();
  for (const { firstLine, lines: some } of lineBlocks(new TextEncoder().encode(text), from))
    for (const [index, line] of some.entries())
      lines.set(firstLine + index, (lines.get(firstLine + index) ?? "") + line);
  return lines;
}

const texts = fc
  .array(
    fc
      .tuple(fc.constantFrom("a", "é", "漢", "🌤", "\n", "\r", "line\n"), fc.nat(40_000))
      .map(([part, times]) => part.repeat(times)),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(""));

test("blocks put together are the file, every line under its number", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const expected = text.split("\n");
      if (expected.at(-1) === "") expected.pop();
      const lines = linesFrom(text, 0);
      if (lines.size !== expected.length) throw new Error("lines are missing");
      for (const [index, line] of expected.entries())
        if (lines.get(index + 1) !== line) throw new Error(`line ${index + 1} differs`);
    }),
    { numRuns: 50 },
  );
});

test("from the midst of a file on, lines have the same numbers", () => {
  const text = `${"漢字\n".repeat(50_000)}last 🌤`;
  const whole = linesFrom(text, 0);
  for (const from of [1, 7, 65_536, 200_001, 350_001, 350_008]) {
    const lines = linesFrom(text, from);
    expect(lines.get(50_001)?.endsWith("🌤")).toBe(true);
    const [first, ...others] = lines.keys();
    expect(first).toBe(Math.min(Math.floor(from / 7) + 1, 50_001));
    expect(others.every((number) => lines.get(number) === whole.get(number))).toBe(true);
  }
});

test("bytes that are no text do not stop it", () => {
  const bytes = new Uint8Array(200_000).fill(0x80);
  const blocks = [...lineBlocks(bytes, 70_000)];
  expect(blocks.at(-1)?.firstLine).toBe(1);
  expect(blocks.length).toBeLessThan(10);
});
