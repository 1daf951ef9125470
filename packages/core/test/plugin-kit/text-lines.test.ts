import { characterStart, countLines, cutText, lineStart } from "@holdfast/core/plugin-kit";
import { expect, test } from "vitest";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test("counts lines and finds where each begins", () => {
  const text = bytes("one\n\nthree\n");
  expect(countLines(text)).toBe(4);
  expect([1, 2, 3, 4, 5].map((line) => lineStart(text, line))).toEqual([0, 4, 5, 11, null]);
  expect(countLines(bytes(""))).toBe(1);
  expect(lineStart(bytes(""), 1)).toBe(0);
});

test("finds the start of the character that a byte is within", () => {
  const text = bytes("aé€😀");
  const starts = Array.from(text.keys(), (at) => characterStart(text, at));
  expect(starts).toEqual([0, 1, 1, 3, 3, 3, 6, 6, 6, 6]);
  expect(characterStart(text, text.length)).toBe(text.length);
});

test("stays where it is in bytes that are not UTF-8", () => {
  expect(characterStart(new Uint8Array(8).fill(0x80), 6)).toBe(6);
});

test("cuts long text between characters", () => {
  expect(cutText("short", 5)).toBe("short");
  expect(cutText("longer", 5)).toBe("longe…");
  expect(cutText("abc😀d", 4)).toBe("abc…");
});
