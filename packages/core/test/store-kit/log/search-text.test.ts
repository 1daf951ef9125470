import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  assistantMessage,
  InvalidIdError,
  InvalidInputError,
  toolResultMessage,
  userMessage,
} from "../../../src/index.js";
import { cutIndex } from "../../../src/plugin-kit/index.js";
import { checkLogQuery, searchableText, snippetAround } from "../../../src/store-kit/index.js";

describe("what can be searched", () => {
  const message = assistantMessage([
    { type: "text", text: "plain words" },
    { type: "thinking", text: "inner voice" },
    { type: "hint", text: "a nudge", source: "x" },
    {
      type: "tool_call",
      id: "call-id",
      name: "search_web",
      input: { q: 'say "hi"\nthere', n: 42 },
    },
    {
      type: "data",
      mediaType: "image/png",
      name: "cat.png",
      source: { kind: "base64", data: "QUJD" },
    },
  ]);
  const result = toolResultMessage({
    type: "tool_result",
    toolCallId: "call-id",
    name: "search_web",
    state: "success",
    output: [{ type: "text", text: "found it" }],
  });

  test.each(["plain words", "inner voice", "a nudge", "search_web", '"n":42', "cat.png"])(
    "%s",
    (text) => expect(searchableText(message)).toContain(text),
  );
  test("the text of tool results", () => expect(searchableText(result)).toContain("found it"));
  test("a string inside an argument, as it was and not as JSON writes it", () =>
    expect(searchableText(message)).toContain('say "hi"\nthere'));
  test("but not ids and the bytes of files", () =>
    expect(searchableText(message)).not.toMatch(/call-id|QUJD/));
});

describe("a snippet", () => {
  test("shows the text around the first match, with … where text was left out", () => {
    const text = `${"a".repeat(500)} The NEEDLE here ${"b".repeat(500)}`;
    const snippet = snippetAround(text, "needle") ?? "";
    expect(snippet).toMatch(/^…a+ The NEEDLE here b+…$/);
    expect(snippet.length).toBeLessThanOrEqual(122);
  });

  test("is the whole text when that is short", () => {
    expect(snippetAround("only this", "THIS")).toBe("only this");
  });

  test("is null where nothing matches", () => {
    expect(snippetAround("some text", "other")).toBeNull();
  });

  test.each([".*", "a|b", "(a+)+$", "[", "\\", "$&", "^", "{2}", "/", "?", "-"])(
    "takes %s as plain text",
    (query) => {
      expect(snippetAround("aaa aaa", query)).toBeNull();
      expect(snippetAround(`before ${query} after`, query)).toBe(`before ${query} after`);
    },
  );

  test.each([
    ["ÄRGER", "ärger"],
    ["ОШИБКА", "ошибка"],
    ["ΣΊΣΥΦΟΣ", "σίσυφος"],
  ])("finds %s by %s", (text, query) => expect(snippetAround(text, query)).toBe(text));

  test("keeps its place behind characters that change length in lower case", () => {
    const text = `${"İ".repeat(300)}needle${"İ".repeat(300)}`;
    expect(snippetAround(text, "NEEDLE")).toContain("needle");
  });

  test("holds the match, is bounded and splits no character, whatever the text", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 200 });
    fc.assert(
      fc.property(
        text,
        fc.string({ unit: "grapheme", minLength: 1, maxLength: 150 }),
        text,
        (before, query, after) => {
          const snippet = snippetAround(before + query + after, query);
          expect(snippet).not.toBeNull();
          expect(snippet?.length).toBeLessThanOrEqual(122);
          expect(snippet).not.toMatch(/\p{Surrogate}/u);
          if (query.length <= 100) expect(snippetAround(snippet ?? "", query)).not.toBeNull();
        },
      ),
    );
  });
});

test("a cut never splits a surrogate pair and moves by one at most", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme" }),
      fc.integer({ min: -3, max: 40 }),
      (text, index) => {
        const at = cutIndex(text, index);
        const wanted = Math.min(Math.max(index, 0), text.length);
        expect(wanted - at === 0 || wanted - at === 1).toBe(true);
        expect(text.slice(0, at)).not.toMatch(/\p{Surrogate}/u);
        expect(text.slice(at)).not.toMatch(/\p{Surrogate}/u);
      },
    ),
  );
});

test("a search without a user must name a session, and every search some text", () => {
  const query = { agentId: "a", userId: null, text: "x" };
  expect(() => checkLogQuery(query)).toThrow(InvalidInputError);
  expect(() => checkLogQuery({ ...query, sessionId: "s" })).not.toThrow();
  expect(() => checkLogQuery({ ...query, userId: "u" })).not.toThrow();
  expect(() => checkLogQuery({ ...query, userId: "u", text: "" })).toThrow(InvalidInputError);
  expect(() => checkLogQuery({ ...query, userId: "" })).toThrow(InvalidIdError);
});

test("a message of the user is searchable by its words", () => {
  expect(searchableText(userMessage("hello"))).toBe("hello");
});
