import { expect, test } from "vitest";
import { everydayCommands, sensibleDenials, sensibleRules } from "./corpus/everyday-commands.js";
import { command } from "./decisions.js";

test("the corpus has at least 100 commands, each once", () => {
  expect(new Set(everydayCommands).size).toBe(everydayCommands.length);
  expect(everydayCommands.length).toBeGreaterThan(100);
});

test.each(everydayCommands)("%j runs under sensible rules", (line) => {
  expect(command(line, { allow: sensibleRules })).toEqual({ decision: "allow" });
});

test.each(everydayCommands)("%j runs beside rules that forbid others", (line) => {
  const rules = { allow: sensibleRules, deny: sensibleDenials };
  expect(command(line, rules)).toEqual({ decision: "allow" });
  expect(command(line, rules, "bypass")).toEqual({ decision: "allow" });
});
