import fc from "fast-check";
import { expect, test } from "vitest";
import { characterEstimate } from "../../src/index.js";

const counter = characterEstimate();

test.each([
  ["", 0],
  ["a", 1],
  ["four", 1],
  [" four words of text", 4],
  ["it's", 1],
  ["camelCaseName", 3],
  ["1234567", 3],
  ["at 12", 3],
  ['":', 1],
  [";\n\n", 1],
  ["-".repeat(10), 2],
  ["    indented", 2],
  ["привет", 2],
  ["你好世界", 3],
  ["안녕", 2],
  ["😀", 2],
])("%j is about %i tokens", (text, tokens) => expect(counter.countText(text)).toBe(tokens));

test("more text never costs less, but for one token of spaces or an apostrophe at the end that joined what follows", () => {
  const text = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.string({ unit: "binary" }),
    fc.string({
      unit: fc.constantFrom("a", "Z", "é", "ж", "漢", "가", "7", "'", "{", "-", " ", "\n", "…"),
    }),
  );
  fc.assert(
    fc.property(text, text, (head, tail) => {
      const least = counter.countText(head) - (/[\s']$/.test(head) ? 1 : 0);
      expect(counter.countText(head + tail)).toBeGreaterThanOrEqual(least);
    }),
    { numRuns: 2_000 },
  );
});

test("a text costs about the sum of its paragraphs", () => {
  const paragraph = fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(fc.array(paragraph, { minLength: 1, maxLength: 20 }), (paragraphs) => {
      const texts = paragraphs.map((words) => `${words.join(" ")}\n`);
      const sum = texts.reduce((total, text) => total + characterEstimate().countText(text), 0);
      const whole = counter.countText(texts.join(""));
      // Each paragraph is rounded on its own.
      expect(Math.abs(whole - sum)).toBeLessThanOrEqual((texts.length + 1) / 2);
    }),
  );
});

test("any UTF-16 unit counts, alone or in a row", () => {
  for (let unit = 0; unit <= 0xffff; unit += unit < 0x250 ? 1 : 31) {
    const char = String.fromCharCode(unit);
    const one = counter.countText(char);
    if (!Number.isSafeInteger(one) || one < 1 || counter.countText(char.repeat(200)) <= one)
      expect.fail(`U+${unit.toString(16)} counts ${one}`);
  }
});

test.each(["a", "A", "你", "…", "-=", "1"])("millions of %j in a row are counted", (unit) =>
  expect(counter.countText(unit.repeat(8_000_000 / unit.length))).toBeGreaterThan(50_000),
);

test("words of a text with accented letters cost more than the same words of an English one", () => {
  const words = "dieselben langen Zeichenketten ".repeat(5);
  expect(counter.countText(`für ${words}`)).toBeGreaterThan(counter.countText(`fur ${words}`) + 5);
});
