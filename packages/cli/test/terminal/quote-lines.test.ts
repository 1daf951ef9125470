import fc from "fast-check";
import stringWidth from "string-width";
import { describe, expect, test } from "vitest";
import { QUOTE_MARGIN, quoteLines } from "../../src/terminal/quote-lines.js";
import { safeText } from "../../src/terminal/safe-text.js";

const texts = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 300 }),
  fc.string({ unit: "binary", maxLength: 100 }),
  fc
    .array(fc.constantFrom("word", " ", "\n", "日本", "\u001b[2J", "│ ", "\r"))
    .map((parts) => parts.join("")),
);

describe("quoted text", () => {
  test("is wrapped below a margin", () => {
    expect(quoteLines("a line that is longer\nb\u001b[2J", 20)).toEqual([
      "│ a line that is lo",
      "│     nger",
      "│ b\\x1b[2J",
    ]);
  });

  test("stays behind its margin on every row, whatever it holds", () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 20, max: 120 }), (text, columns) => {
        for (const row of quoteLines(text, columns)) {
          expect(row.startsWith(QUOTE_MARGIN.trimEnd())).toBe(true);
          expect(row).toBe(safeText(row));
          expect(stringWidth(row)).toBeLessThan(columns);
        }
      }),
    );
  });

  test("loses nothing but white space", () => {
    const solid = (text: string): string => text.replace(/\s/gu, "");
    fc.assert(
      fc.property(texts, (text) => {
        const rows = quoteLines(text, 40).map((row) => row.slice(QUOTE_MARGIN.length));
        expect(solid(rows.join(""))).toBe(solid(safeText(text)));
      }),
    );
  });
});
