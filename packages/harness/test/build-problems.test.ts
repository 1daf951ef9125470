import { type Plugin, tool } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import { HarnessAgent, type HarnessAgentBuilder } from "../src/index.js";
import { problemsOf } from "./problems-of.js";
import { distributedParts, inMemoryParts } from "./stores.js";

function builder(): HarnessAgentBuilder {
  return HarnessAgent.builder().name("assistant").model(scriptedModel([]));
}

test("an agent without a name or a model is refused, and both are said at once", () => {
  const problems = problemsOf(() => HarnessAgent.builder().build());
  expect(problems).toHaveLength(2);
  expect(problems[0]).toMatch(/^name: .*\.name\("assistant"\)/);
  expect(problems[1]).toMatch(/^model: /);
});

test("all problems of harness, engine and plugins come in one error", () => {
  const add = tool({ name: "add", description: "Adds.", input: z.object({}), execute: () => 0 });
  const local = inMemoryParts();
  const problems = problemsOf(() =>
    HarnessAgent.builder()
      .workspace("  ")
      .maxIterations(0)
      .stateStore(local.stateStore)
      .distributedStore(distributedParts())
      .tools(add, add)
      .use({ name: "foreign", contract: 2 as 1, setup: () => {} })
      .build(),
  );
  const about = [
    "name:",
    "model:",
    "workspace:",
    "maxIterations:",
    "stateStore and distributedStore",
    'two tools are named "add"',
    'plugin "foreign"',
  ];
  for (const start of about)
    expect(problems.filter((problem) => problem.startsWith(start))).toHaveLength(1);
  expect(problems).toHaveLength(about.length);
});

test.each<[object, RegExp]>([
  [{ name: null }, /^name: must be a string, got null$/],
  [{ workspaceOptions: 5 }, /^workspaceOptions: must be an object, got 5$/],
  [{ workspaceOptions: null }, /^workspaceOptions: must be an object, got null$/],
  [{ workspace: 5 }, /^workspace: must be a text, got 5$/],
  [{ sessionTools: "no" }, /^sessionTools: must be true or false, got "no"$/],
  [
    { skills: "all" },
    /^skills: must be a list of \{ name, description, instructions \}, got "all"$/,
  ],
  [{ skills: [{}] }, /^skills\.0\.name: must be a text, got undefined$/],
])("%o is refused in plain words", (options, expected) => {
  const given = { name: "a", model: scriptedModel([]), ...options };
  const [problem] = problemsOf(() => HarnessAgent.create(given as never));
  expect(problem).toMatch(expected);
});

test("the error's message lists every problem", () => {
  expect(() => builder().workspace("").maxIterations(0).build()).toThrow(
    /2 problems:\n- workspace: .*\n- maxIterations: /,
  );
});

test.each(["", " ", "\t\n"])("a blank workspace (%j) is refused", (workspace) => {
  expect(problemsOf(() => builder().workspace(workspace).build())).toEqual([
    `workspace: must not be blank, got ${JSON.stringify(workspace)}`,
  ]);
});

test("a setting of the wrong type is named with its value", () => {
  expect(
    problemsOf(() =>
      HarnessAgent.create({
        name: "assistant",
        model: scriptedModel([]),
        sessionTools: "yes" as unknown as boolean,
        skills: [{ name: "a", description: " ", instructions: "c" }],
      }),
    ),
  ).toEqual([
    expect.stringMatching(/^sessionTools: .*got "yes"$/),
    'skills.0.description: must not be blank, got " "',
  ]);
});

test("a plugin written for another contract is refused by name", () => {
  const foreign: Plugin = { name: "from-the-future", contract: 2 as 1, setup: () => {} };
  expect(problemsOf(() => builder().use(foreign).build())).toEqual([
    expect.stringMatching(/"from-the-future".*contract 2/),
  ]);
});

test("a plugin whose port nobody provides is named", () => {
  const asking: Plugin = {
    name: "asking",
    contract: 1,
    setup: (host) => void host.require("compactor"),
  };
  expect(problemsOf(() => builder().use(asking).build())).toEqual([
    expect.stringMatching(/"asking".*compactor/),
  ]);
});

test("a distributed store that lacks parts is refused, and the parts are named", () => {
  const { gate: _, log: __, ...rest } = distributedParts();
  const incomplete = rest as ReturnType<typeof distributedParts>;
  expect(problemsOf(() => builder().distributedStore(incomplete).build())).toEqual([
    expect.stringMatching(/^distributedStore: it has no log, gate;/),
  ]);
});

test("a misspelt part of a distributed store is named with the one that was meant", () => {
  const { keyValue, ...rest } = distributedParts();
  const misspelt = { ...rest, keyvalues: keyValue } as unknown as ReturnType<
    typeof distributedParts
  >;
  expect(problemsOf(() => builder().distributedStore(misspelt).build())).toEqual([
    'distributedStore: it has no keyValue; it has "keyvalues": did you mean keyValue?',
  ]);
});
