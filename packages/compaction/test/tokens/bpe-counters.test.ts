import { ConfigurationError, type TokenCounter, userMessage } from "@holdfast/core";
import { describeTokenCounter } from "@holdfast/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type BpeCounterOptions,
  gptTokenizerCounter,
  type TokenEncoding,
  tiktokenCounter,
} from "../../src/index.js";
import { commonTexts, otherTexts } from "./corpus.js";

const runs = process.env["HOLDFAST_LONG"] === "1" ? 50_000 : 200;
const encodings: readonly TokenEncoding[] = ["o200k_base", "cl100k_base"];
const factories: readonly [string, (options?: BpeCounterOptions) => TokenCounter][] = [
  ["tiktokenCounter", tiktokenCounter],
  ["gptTokenizerCounter", gptTokenizerCounter],
];

for (const [name, create] of factories) {
  for (const encoding of encodings)
    describeTokenCounter(`${name} ${encoding}`, { create: () => create({ encoding }) });

  describe(name, () => {
    test("it counts in o200k_base unless told otherwise, and its id says what it counts in", () => {
      const [byDefault, named, older] = [
        create(),
        create({ encoding: "o200k_base" }),
        create({ encoding: "cl100k_base" }),
      ];
      const text = "контрольный пример";
      expect(byDefault.id).toBe(named.id);
      expect(byDefault.id).toContain("o200k_base");
      expect(older.id).toContain("cl100k_base");
      expect(byDefault.countText(text)).toBe(named.countText(text));
      expect(older.countText(text)).toBeGreaterThan(named.countText(text));
    });

    // Numbers from the encoders' published examples and vocabularies.
    test.each([
      ["o200k_base", "hello world", 2],
      ["cl100k_base", "tiktoken is great!", 6],
      ["o200k_base", "antidisestablishmentarianism", 6],
      ["o200k_base", "2 + 2 = 4", 7],
      ["o200k_base", "お誕生日おめでとう", 8],
      ["cl100k_base", "お誕生日おめでとう", 9],
    ] as const)("in %s, %j has %i tokens", (encoding, text, tokens) => {
      expect(create({ encoding }).countText(text)).toBe(tokens);
    });

    test("a special token is as many tokens as its text, wherever it stands", () => {
      const counter = create();
      for (const token of ["<|endoftext|>", "<|im_start|>", "<|fim_prefix|>", "<|endofprompt|>"])
        for (const text of [token, `a ${token} b`, token.repeat(3)])
          expect(counter.countText(text)).toBeGreaterThan(text.split(token).length);
    });

    test("an unknown encoding or option is refused with its name", () => {
      expect(() => create({ encoding: "p50k" as TokenEncoding })).toThrow(
        expect.objectContaining({ message: expect.stringMatching(/encoding is "p50k"/) }),
      );
      expect(() => create({ model: "x" } as never)).toThrow(ConfigurationError);
    });

    test("lone surrogates count in any place, also in messages", () => {
      const counter = create();
      for (const text of ["\ud800", "a\udfffb", "\udc00\ud800", `${"\ud83d".repeat(2_000)}x`])
        expect(counter.countMessages([userMessage(text)])).toBeGreaterThan(
          counter.countMessages([userMessage("")]),
        );
    });
  });
}

test.each(encodings)("both counters agree in %s on texts of every kind", (encoding) => {
  const [one, other] = [tiktokenCounter({ encoding }), gptTokenizerCounter({ encoding })];
  for (const text of Object.values({ ...commonTexts, ...otherTexts }))
    expect(other.countText(text)).toBe(one.countText(text));
});

test.each(encodings)("both counters agree in %s on random texts", (encoding) => {
  const [one, other] = [tiktokenCounter({ encoding }), gptTokenizerCounter({ encoding })];
  const word = fc.constantFrom(
    ..."the It's WON'T don't'll 1234 3.14 x += ({[ ]}); // /* */ \n \r\n \n\n\t é ß ñ ж 漢字 かな 한글 สวัสดี नमस्ते مرحبا 👍🏽 👩‍💻 𝒳 — “ ” … <|endoftext|>".split(
      " ",
    ),
    " ",
    "  ",
    "\n    ",
  );
  const text = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 200 }),
    fc.string({ unit: "grapheme-ascii", maxLength: 200 }),
    fc.array(word, { maxLength: 400 }).map((words) => words.join("")),
  );
  fc.assert(
    fc.property(text, (sample) => {
      expect(other.countText(sample)).toBe(one.countText(sample));
    }),
    { numRuns: runs },
  );
});
