import { toolResultMessage, userMessage } from "@holdfast/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { renderMessage } from "../src/flush/render-message.js";
import { plainText } from "../src/quote/plain-text.js";
import { openMark, quoted, quoteText } from "../src/quote/quote-text.js";

const runs = process.env["HOLDFAST_LONG"] === "1" ? 20_000 : 200;
const names = ["memory", "notes", "conversation", "message", "call", "result"] as const;

/** What a reader who overlooks unseen characters, width and case takes for a mark. */
const looksLikeMark = /<[^\p{L}\p{N}<]*(?:memory|notes|conversation|message|call|result)/iu;
const twins: Record<string, string> = {
  е: "e",
  о: "o",
  с: "c",
  а: "a",
  ѕ: "s",
  м: "m",
  у: "y",
  т: "t",
};
const seen = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/[\p{Default_Ignorable_Code_Point}\p{M}]/gu, "")
    .toLowerCase()
    .replace(/[еосаѕмут]/g, (letter) => twins[letter] ?? "");

const unseen = fc.constantFrom(
  "",
  "",
  "\u200b",
  "\u00ad",
  "\u{E0041}",
  "\u2060",
  "\u3164",
  "\u0301",
);
const mark = fc
  .tuple(
    fc.constantFrom("<", "＜", "﹤", "<<", "< <"),
    fc.constantFrom("", "/", " / ", "//", "\n/", "!--", "\t", `${"\u200b".repeat(80)}/`),
    fc.constantFrom(...names),
    fc.array(unseen, { minLength: 16, maxLength: 16 }),
    fc.constantFrom("lower", "upper", "wide", "bold", "circled", "other script"),
    fc.constantFrom(">", "", " x>", "/>"),
  )
  .map(([bracket, slash, name, gaps, style, end]) => {
    const letters = [...name].map((letter, index) => {
      const from = (start: number) => String.fromCodePoint(letter.charCodeAt(0) - 0x61 + start);
      const twin = Object.entries(twins).find(([, latin]) => latin === letter)?.[0] ?? letter;
      const shapes = {
        ...{ lower: letter, upper: letter.toUpperCase(), wide: from(0xff41) },
        ...{ bold: from(0x1d41a), circled: from(0x24d0), "other script": twin },
      };
      return `${shapes[style]}${gaps[index]}`;
    });
    return `${bracket}${gaps[14]}${slash}${gaps[15]}${letters.join("")}${end}`;
  });
const hostile = fc
  .array(fc.oneof(mark, fc.string(), fc.string({ unit: "grapheme" })), { maxLength: 8 })
  .map((parts) => parts.join(""));

describe("quoted text", () => {
  test("can neither close nor open a mark, whatever it says", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(seen(quoteText(text))).not.toMatch(looksLikeMark);
      }),
      { numRuns: runs },
    );
  });

  test("stands between exactly one pair of marks", () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), hostile, fc.string(), (name, text, value) => {
        const whole = quoted(name, { file: value }, text);
        expect(whole.match(new RegExp(`</?${name}`, "gi"))).toHaveLength(2);
        expect(whole.startsWith(`<${name} file="`)).toBe(true);
        expect(whole.endsWith(`\n</${name}>`)).toBe(true);
      }),
      { numRuns: runs },
    );
  });

  test("is the text itself where there is no mark in it", () => {
    for (const text of [
      "a < b && c > d",
      "<div>x</div>",
      "List<String>",
      "1<2",
      "in memory of",
      "a <b> of memory, ‹citation› 〈書〉",
      "<método>",
      "",
    ])
      expect(quoteText(text)).toBe(text);
  });

  test("is quoted in time that grows with its length only", () => {
    const texts = ["<", "< ", "<\u200b", "<m\u200b", "\u200b", "<mem\u200b", "<!-"];
    for (const text of texts) {
      const long = text.repeat(200_000);
      expect(quoteText(long).length).toBeGreaterThanOrEqual(long.length);
    }
  });
});

test("the value of an attribute cannot end its mark", () => {
  fc.assert(
    fc.property(fc.oneof(hostile, fc.constantFrom('"><x', "\n", "a&quot;>")), (value) => {
      expect(openMark("conversation", { session: value })).toMatch(
        /^<conversation session="[^"<>\n]*">$/,
      );
    }),
    { numRuns: runs },
  );
});

test("nothing said in a message can pass for another message", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      for (const message of [
        userMessage(text || "x"),
        toolResultMessage([
          {
            ...{ type: "tool_result", toolCallId: "1", name: text || "x", state: "success" },
            output: [{ type: "text", text }],
          },
        ]),
      ])
        expect(
          (renderMessage(message) ?? "<message </message").match(/<\/?message/gi),
        ).toHaveLength(2);
    }),
    { numRuns: runs },
  );
});

test("plain text keeps its lines and loses what cannot be seen", () => {
  expect(plainText("a\r\nb\rc\td\u0007\u202ee\u{E0041}f")).toBe("a\nb\nc\tdef");
});
