import fc from "fast-check";
import { expect, test } from "vitest";
import { formatRule, parseRule } from "../src/rules/rule.js";
import { ruleProblems } from "../src/rules/rule-problems.js";

test.each([
  ["execute", { tool: "execute" }],
  ["execute(*)", { tool: "execute" }],
  ["files_*", { tool: "files_*" }],
  ["execute(npm run test:*)", { tool: "execute", pattern: "npm run test:*" }],
  ["execute(echo (a) b)", { tool: "execute", pattern: "echo (a) b" }],
  ["execute(../bin/check:*)", { tool: "execute", pattern: "../bin/check:*" }],
  ["  read_file( ./.env ) ", { tool: "read_file", pattern: "./.env" }],
])("%j is read", (text, rule) => {
  expect(parseRule(text)).toEqual({ rule });
});

test.each([
  ["", "names no tool"],
  ["(ls)", "names no tool"],
  ["execute(ls", "no closing parenthesis"],
  ["execute()", "empty specifier"],
  ["execute(  )", "empty specifier"],
  ["execute(:*)", "empty specifier"],
  ["run it", "is not a rule"],
  ["execute)", "is not a rule"],
  [`execute(${"x".repeat(2001)})`, "2001 characters"],
  ["execute(a\0b)", "control character"],
  ["read_file(src/**/../b)", "name the directory"],
  ["read_file(**/a/../..)", "name the directory"],
])("%j is a problem: %s", (text, problem) => {
  expect(parseRule(text)).toEqual({ problem: expect.stringContaining(problem) });
});

test("what is written is read again", () => {
  const tool = fc.stringMatching(/^[a-z_*]{1,12}$/);
  const pattern = fc.stringMatching(/^[a-z./:()-]([a-z ./:()*-]{0,20}[a-z)])?$/);
  fc.assert(
    fc.property(tool, fc.option(pattern, { nil: undefined }), (name, specifier) => {
      const rule = specifier === undefined ? { tool: name } : { tool: name, pattern: specifier };
      expect(parseRule(formatRule(rule))).toEqual({ rule });
    }),
  );
});

const tools = [
  { name: "execute", hasSubject: true },
  { name: "files_read", hasSubject: false },
];

test("a rule that can have no effect is a problem that names it and its source", () => {
  const rules = [
    { tool: "execute", pattern: "ls:*" },
    { tool: "files_*" },
    { tool: "execut", source: "project" },
    { tool: "web_*" },
    { tool: "files_read", pattern: "a" },
    { tool: "execute", pattern: "" },
  ];
  expect(ruleProblems(rules, tools)).toEqual([
    'rule "execut" (project) names a tool the agent does not have; did you mean execute?',
    'rule "web_*" matches no tool of the agent; it has execute, files_read',
    'rule "files_read(a)" has a specifier, but files_read declares no subject to compare it with; leave out the specifier',
    'rule "execute()" has an empty specifier; leave out the parentheses to mean every call of the tool',
  ]);
});
