import { stripVTControlCharacters } from "node:util";
import { visibleWidth } from "@earendil-works/pi-tui";
import fc from "fast-check";
import pico from "picocolors";
import { expect, test } from "vitest";
import { backgroundOf, createTheme } from "../../../src/chat/screen/theme.js";
import { diffLines } from "../../../src/chat/view/diff-lines.js";
import { highlightCode } from "../../../src/chat/view/highlight-code.js";
import { MarkdownEntry } from "../../../src/chat/view/markdown-entry.js";

const theme = createTheme(pico.createColors(true), "dark");

/** A text of blocks of many kinds. */
const blocks = fc.array(
  fc.constantFrom(
    "# Heading",
    "A paragraph of **some** words, with `code`.",
    "- one\n- two\n  - three",
    "1. first\n\n2. second\n\n   more of it",
    "```ts\nconst a = 1;\n\n// not the end\nconst b = `x\ny`;\n```",
    "| a | b |\n| - | - |\n| 1 | 2 |",
    "> quoted",
    "    indented code",
  ),
  { maxLength: 8 },
);

test("a text that arrives in pieces is drawn as the same text at once", () => {
  fc.assert(
    fc.property(
      blocks,
      fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
      (parts, sizes) => {
        const text = parts.join("\n\n");
        const grown = new MarkdownEntry(theme);
        for (let [at, step] = [0, 0]; at < text.length; step++) {
          const size = sizes[step % sizes.length] ?? 1;
          grown.append(text.slice(at, at + size));
          grown.render(60);
          at += size;
        }
        expect(grown.render(60)).toEqual(new MarkdownEntry(theme, text).render(60));
      },
    ),
    { numRuns: 50 },
  );
});

test("no line is wider than the window, whatever is said", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", maxLength: 200 }),
      fc.integer({ min: 4, max: 40 }),
      (text, width) => {
        const lines = new MarkdownEntry(theme, text).render(width);
        for (const line of lines) expect(visibleWidth(line)).toBeLessThanOrEqual(width);
      },
    ),
    { numRuns: 100 },
  );
});

test("a diff turns one text into the other", () => {
  const text = fc
    .array(fc.constantFrom("a", "b", "c", ""), { maxLength: 8 })
    .map((lines) => lines.map((line) => `${line}\n`).join(""));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = diffLines(before, after);
      const side = (sign: string): string =>
        lines
          .filter((line) => line.sign === " " || line.sign === sign)
          .map((line) => `${line.text}\n`)
          .join("");
      expect([side("-"), side("+")]).toEqual([before, after]);
    }),
  );
});

test("code keeps its text, and a comment or a string over several lines its colour", () => {
  const mark = (name: string) => (text: string) => `<${name}>${text}</${name}>`;
  const colors = { keyword: mark("k"), string: mark("s"), number: mark("n"), comment: mark("c") };
  const code = 'const a = "x"; /* one\ntwo */ let b = 1.5;';
  expect(highlightCode(code, "ts", colors)).toEqual([
    '<k>const</k> a = <s>"x"</s>; <c>/* one</c>',
    "<c>two */</c> <k>let</k> b = <n>1.5</n>;",
  ]);
  expect(highlightCode("whatever", "brainfuck", colors)).toEqual(["whatever"]);
  expect(
    stripVTControlCharacters(theme.markdown.highlightCode?.(code, "ts").join("\n") ?? ""),
  ).toBe(code);
});

test("the background is the one that the terminal tells of", () => {
  const found = ["15;0", "0;15", "0;default;7", "", "12;8"].map((COLORFGBG) =>
    backgroundOf({ COLORFGBG }),
  );
  expect(found).toEqual(["dark", "light", "light", "dark", "dark"]);
});
