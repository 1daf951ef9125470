import { InvalidInputError } from "@holdfast/core";
import { compileRegex } from "@holdfast/core/plugin-kit";
import { expect, test } from "vitest";

function compiler(programSize: number) {
  const compiled: string[] = [];
  const compile = (pattern: string) => {
    compiled.push(pattern);
    if (pattern === "(") throw new Error("missing )");
    return { programSize: () => programSize };
  };
  return { compiled, compile };
}

function problem(pattern: string, programSize = 1, name?: string): string {
  try {
    compileRegex(pattern, { compile: compiler(programSize).compile, name });
    return "";
  } catch (error) {
    expect(InvalidInputError.is(error)).toBe(true);
    return error instanceof Error ? error.message : "";
  }
}

test("returns what the engine compiled", () => {
  expect(compileRegex("a{2}b", compiler(12)).programSize()).toBe(12);
});

test("says what is wrong with an expression", () => {
  expect(problem("(", 1, "query")).toBe(
    "the query is not a valid RE2 regular expression: missing ); look-around and back-references are not supported",
  );
});

test("refuses expressions that are too long or too expensive", () => {
  expect(problem("a".repeat(1_001))).toContain("at most 1000 characters, this one has 1001");
  expect(problem("a", 501)).toBe("the pattern has too many repetitions; simplify it");
  expect(problem("a{300}b{1,201}")).toContain("too many repetitions");
  expect(problem("a\\{3000}")).toBe("");
});

test("repetitions are counted before the engine has to expand them", () => {
  const { compiled, compile } = compiler(1);
  expect(() => compileRegex("a{100000}", { compile })).toThrow("too many repetitions");
  expect(compiled).toEqual([]);
});
