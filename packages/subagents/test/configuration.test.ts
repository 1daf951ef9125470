import { ConfigurationError } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { generalPurpose } from "../src/definitions/subagent-definition.js";
import { readOptions, type SubagentsOptions } from "../src/subagents-options.js";

const reviewer = { name: "reviewer", description: "Reviews." };

test("everything has a default", () => {
  expect(readOptions({})).toEqual({
    agents: [generalPurpose],
    models: {},
    directory: "subagents",
    maxDepth: 3,
    maxRunning: 10,
    maxResultChars: 100_000,
  });
});

test("agents and models are passed on as they are", () => {
  const model = scriptedModel([]);
  const agents = [{ ...reviewer, model, tools: ["files_*"], maxIterations: 3, hidden: true }];
  const settings = readOptions({ agents, models: { fast: model }, generalPurpose: false });
  expect(settings.agents).toEqual(agents);
  expect(settings.agents[0]?.model).toBe(model);
  expect(settings.models["fast"]).toBe(model);
});

test("an own agent can have the name of the built-in one once that is left out", () => {
  const agents = [{ ...reviewer, name: "general-purpose" }];
  expect(readOptions({ agents, generalPurpose: false }).agents).toEqual(agents);
});

test("a directory is written in its normal form, or is none", () => {
  expect(readOptions({ directory: "./subagents//team/" }).directory).toBe("subagents/team");
  expect(readOptions({ directory: false }).directory).toBe(false);
});

test.each([
  [{ agents: [{ name: "reviewer" }] }, /agents.0.description is undefined/],
  [{ agents: [{ ...reviewer, description: " \n" }] }, /description is .*must say when/],
  [{ agents: [{ ...reviewer, name: "the reviewer" }] }, /agents.0.name is "the reviewer": must be/],
  [{ agents: [{ ...reviewer, name: "_x" }] }, /agents.0.name is "_x": must be/],
  [{ agents: [{ ...reviewer, name: "x".repeat(65) }] }, /agents.0.name is "x+…": must be/],
  [{ agents: [reviewer, reviewer] }, /agents.1.name is "reviewer": agents.0 has this name already/],
  [
    { agents: [reviewer, { ...reviewer, name: "Reviewer" }] },
    /agents.1.name is "Reviewer": agents.0 has this name already/,
  ],
  [
    { agents: [{ ...reviewer, name: "General-Purpose" }] },
    /agents.0.name is "General-Purpose": is the built-in agent; set generalPurpose: false/,
  ],
  [{ agents: [{ ...reviewer, model: {} }] }, /agents.0.model is an object: must have a stream/],
  [{ agents: [{ ...reviewer, model: "gpt" }] }, /agents.0.model is "gpt": must have a stream/],
  [{ agents: [{ ...reviewer, model: { doStream() {} } }] }, /wrap it with fromAiSdk/],
  [{ agents: [{ ...reviewer, tools: "read_file" }] }, /tools is "read_file": must be a list/],
  [{ agents: [{ ...reviewer, tools: ["a b"] }] }, /tools.0 is "a b": must be the name of a tool/],
  [{ agents: [{ ...reviewer, maxIterations: 0 }] }, /maxIterations is 0/],
  [{ agents: [{ ...reviewer, prompt: "x" }] }, /agents.0: unknown option "prompt"/],
  [{ agents: [{ ...reviewer, sytemPrompt: "x" }] }, /did you mean systemPrompt/],
  [{ models: { fast: 4 } }, /models.fast is 4: must have a stream function/],
  [{ directory: "../agents" }, /directory is "..\/agents": must be a path/],
  [{ directory: "/etc" }, /directory is "\/etc": must be a path/],
  [{ directory: "." }, /directory is ".": must be a path/],
  [{ directory: true }, /directory is true: must be a path in the shared files, or false/],
  [{ maxDepth: 11 }, /maxDepth is 11/],
  [{ maxDepth: 0 }, /maxDepth is 0/],
  [{ maxRunning: 0 }, /maxRunning is 0/],
  [{ maxResultChars: 100_001 }, /maxResultChars is 100001/],
  [{ maxDeph: 2 }, /unknown option "maxDeph"; did you mean maxDepth/],
])("%j is refused, and the option named", (options, problem) => {
  expect(() => readOptions(options as SubagentsOptions)).toThrow(ConfigurationError);
  expect(() => readOptions(options as SubagentsOptions)).toThrow(problem);
});

test("all problems are named at once", () => {
  const agents = [reviewer, { ...reviewer, model: 4 }, { ...reviewer, name: "" }];
  const options = { agents, maxDepth: 0, colour: "red" } as unknown as SubagentsOptions;
  const problems = (() => {
    try {
      readOptions(options);
    } catch (error) {
      return String(error);
    }
  })();
  for (const name of ["agents.1.model", "agents.2.name", "maxDepth", "colour"])
    expect(problems).toContain(name);
});
