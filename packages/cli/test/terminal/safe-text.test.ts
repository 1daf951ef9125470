import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  SafeTextStream,
  safeJson,
  safeLine,
  safeName,
  safeText,
} from "../../src/terminal/safe-text.js";

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const anyText = fc.string({ unit: "binary", maxLength: 50 });
const nastyText = fc
  .array(
    fc.constantFrom(
      "\u001b",
      "\u009b",
      "\r",
      "\n",
      "\u202e",
      "a",
      "😀",
      "\ud83d",
      "\ude00",
      "\u2028",
    ),
  )
  .map((parts) => parts.join(""));

describe("text of unknown origin", () => {
  test("keeps what can be read, and shows what a terminal would obey", () => {
    expect(safeText("a\tb\nc é 😀 日本")).toBe("a\tb\nc é 😀 日本");
    expect(safeText("\u001b[31mred\u0007")).toBe("\\x1b[31mred\\x07");
    expect(safeText("\u009b2J \u202egnp")).toBe("\\x9b2J \\u202egnp");
    expect(safeText("one\r\ntwo\rthree")).toBe("one\ntwo\\x0dthree");
    expect(safeLine(" one\n\ttwo ")).toBe("one two");
  });

  test("holds nothing a terminal would obey, whatever it was", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, nastyText), (text) => {
        expect(safeText(text)).not.toMatch(obeyed);
      }),
    );
  });

  test("that is a name stays the name it is: no other looks like it", () => {
    const shown = ["a b", "a  b", " a b", "a\tb", "a\nb", "a\u200eb"].map(safeName);
    expect(new Set(shown).size).toBe(shown.length);
    expect(shown.join("")).not.toMatch(/[\n\t]/);
  });

  test("as JSON means the same", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, nastyText), (text) => {
        const json = safeJson({ [text]: [text] });
        expect(json).not.toMatch(obeyed);
        expect(json).not.toContain("\n");
        expect(JSON.parse(json)).toEqual({ [text]: [text] });
      }),
    );
  });

  test("in pieces is the same as whole", () => {
    fc.assert(
      fc.property(fc.array(nastyText), (pieces) => {
        const stream = new SafeTextStream();
        const shown = pieces.map((piece) => stream.push(piece)).join("") + stream.end();
        expect(shown).toBe(safeText(pieces.join("")));
      }),
    );
  });
});
