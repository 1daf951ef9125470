import fc from "fast-check";
import { expect, test } from "vitest";
import { hasTool } from "../../src/definitions/subagent-definition.js";

test("an agent without a list has every tool, one with an empty list none", () => {
  expect(hasTool({}, "read_file")).toBe(true);
  expect(hasTool({ tools: [] }, "read_file")).toBe(false);
});

test.each([
  ["read_file", "read_file", true],
  ["read_file", "read_files", false],
  ["files_*", "files_", true],
  ["files_*", "files_read", true],
  ["files_*", "my_files_read", false],
  ["*_read", "files_read", true],
  ["*_read", "files_read_all", false],
  ["a*a", "a", false],
  ["a*a", "aa", true],
  ["*b*b*", "abcb", true],
  ["*b*b*", "abc", false],
  ["*", "anything", true],
])("the pattern %j and the tool %j: %j", (pattern, name, expected) => {
  expect(hasTool({ tools: ["other", pattern] }, name)).toBe(expected);
});

test("any pattern means the same as its regular expression", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 10 });
  const pattern = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 6 });
  fc.assert(
    fc.property(pattern, text, (one, name) => {
      const expected = new RegExp(`^${one.replaceAll("*", ".*")}$`).test(name);
      expect(hasTool({ tools: [one] }, name)).toBe(expected);
    }),
    { numRuns: 2_000 },
  );
});
