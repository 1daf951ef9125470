import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inputView } from "../../src/chat/input-view.js";

describe("the view of an input", () => {
  test("has a field per line, and the lines of a value below its name", () => {
    const input = { path: "a.txt", content: "one\npath: b.txt", all: true, ranges: [1, { to: 2 }] };
    expect(inputView(input)).toEqual({
      text: 'path: a.txt\ncontent:\n  one\n  path: b.txt\nall: true\nranges: [1,{"to":2}]',
      isCut: false,
    });
    expect(inputView({}).text).toBe("");
    expect(inputView("words").text).toBe("input: words");
  });

  test("says how much of a long value, or how many fields, it leaves out", () => {
    expect(inputView({ text: "x".repeat(5_000) }).text).toMatch(/^text: x{400} … cut, 5,000 cha/u);
    const lines = inputView({ text: "line\n".repeat(20) });
    expect(lines.text.split("\n")).toHaveLength(10);
    expect(lines.text).toContain("… cut, 100 characters in all");
    const fields = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`f${index}`, 1]));
    expect(inputView(fields).text).toMatch(/f15: 1\n… 4 more fields$/u);
  });

  test("leaves nothing out silently, and nothing at all on demand", () => {
    const value = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 900 }),
      fc.array(fc.constantFrom("a", "\n"), { maxLength: 40 }).map((parts) => parts.join("")),
      fc.integer(),
      fc.array(fc.string({ maxLength: 5 })),
    );
    const input = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/u), value, { maxKeys: 20 });
    fc.assert(
      fc.property(input, (given) => {
        const whole = inputView(given, true);
        expect(whole.isCut).toBe(false);
        for (const text of Object.values(given).filter((one) => typeof one === "string"))
          for (const line of text.split("\n")) expect(whole.text).toContain(line);
        const short = inputView(given);
        expect(short.isCut).toBe(short.text !== whole.text);
      }),
    );
  });
});
