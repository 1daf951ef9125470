import { isWellFormed } from "@holdfast/core/plugin-kit";
import { expect, test } from "vitest";
import { readFacts } from "../src/flush/ask-for-facts.js";

const whole = { isCutOff: false, isTooLong: false };
const facts = (text: string, how: Partial<typeof whole> = {}) =>
  readFacts({ ...whole, ...how, text });

test("list items are facts, in whatever way they are marked", () => {
  const text = "- a\n* b\n• c\n+ d\n1. e\n12) f\n  - g";
  expect(facts(text)).toEqual(["a", "b", "c", "d", "e", "f", "g"]);
});

test("what is no list item is no fact", () => {
  for (const text of [
    "NOTHING",
    "",
    "Here is what I found:",
    "Sure! The user likes tea.",
    "-no space",
    "- ",
    "# Heading",
    "<memory>x</memory>",
    "- NOTHING",
    "- nothing.",
  ])
    expect(facts(text)).toEqual([]);
  expect(facts("The facts:\n- a\nThat is all.")).toEqual(["a"]);
});

test("a fact is one line without control or hidden characters", () => {
  expect(facts("- a\u0000b\u001b[31m\u202Ec\u200Bd\u{E0041}")).toEqual(["a b [31m c d"]);
  expect(facts("- one\u2028## two\u2029three\u0085four")).toEqual(["one ## two three four"]);
  expect(facts("- a\r\n- b\r- c")).toEqual(["a", "b", "c"]);
  expect(facts("- 👩‍💻 writes नमस्ते")).toEqual(["👩‍💻 writes नमस्ते"]);
});

test("a fact has at most 500 characters and an answer at most 50 facts", () => {
  const [long] = facts(`- ${"é😀".repeat(400)}`);
  expect(long?.length).toBeLessThanOrEqual(500);
  expect(isWellFormed(long ?? "")).toBe(true);
  expect(long?.endsWith("…")).toBe(true);
  expect(facts(Array.from({ length: 80 }, (_, n) => `- fact ${n}`).join("\n"))).toHaveLength(50);
});

test("the same fact twice counts once", () => {
  expect(facts("- a\n- a\n- b")).toEqual(["a", "b"]);
});

test("of an answer that broke off the last line is dropped", () => {
  expect(facts("- a\n- Alice is not all", { isCutOff: true })).toEqual(["a"]);
  expect(facts("- a\n- Alice is not all", { isTooLong: true })).toEqual(["a"]);
});
