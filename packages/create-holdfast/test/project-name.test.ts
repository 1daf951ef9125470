import { expect, test } from "vitest";
import { nameOfDirectory, nameProblem } from "../src/project-name.js";

test.each(["my-agent", "a", "@acme/agent", "agent.js", "x~1"])("%s is a valid name", (name) => {
  expect(nameProblem(name)).toBeNull();
});

test.each([
  ["", "is empty"],
  ["My-Agent", "has capital letters"],
  [".agent", "begins with a dot or an underscore"],
  ["@acme/_agent", "begins with a dot or an underscore"],
  ["my agent", "may have letters, digits and -._~ only, and a scope before a slash"],
  ["a/b", "may have letters, digits and -._~ only, and a scope before a slash"],
  ["node_modules", "is reserved"],
  ["a".repeat(215), "is longer than 214 characters"],
])("the name %j is refused", (name, problem) => {
  expect(nameProblem(name)).toBe(problem);
});

test.each([
  ["/home/ada/My Agent", "my-agent"],
  ["/tmp/_Agent_", "agent_"],
  ["Café Bot", "cafe-bot"],
  ["/", "holdfast-agent"],
  ["你好", "holdfast-agent"],
  ["node_modules", "holdfast-agent"],
])("the directory %s gives the name %s", (directory, name) => {
  expect(nameOfDirectory(directory)).toBe(name);
  expect(nameProblem(name)).toBeNull();
});
