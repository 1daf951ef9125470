import {
  type ConfigurationError,
  type Filesystem,
  InMemoryFilesystem,
  textOf,
} from "@holdfast/core";
import { type WorkspaceOptions, workspace } from "@holdfast/workspace";
import { expect, test } from "vitest";
import { ada, agentWith } from "./agent-with.js";

test("skills given as options are named in the prompt and can be read", async () => {
  const skill = {
    name: "brew",
    description: "Makes: tea",
    instructions: "Boil water.",
    group: "kitchen",
  };
  const { model, use } = agentWith([
    workspace({ filesystem: new InMemoryFilesystem(), skills: [skill], activeGroups: ["kitchen"] }),
  ]);
  const { text } = await use(ada, "read_file", { path: "skills/brew/SKILL.md" });
  expect(text).toContain('description: "Makes: tea"');
  expect(text).toContain("\tBoil water.");
  expect(model.requests[0]?.system).toContain("- brew: Makes: tea (skills/brew/SKILL.md)");
});

test("a prompt budget of nothing adds nothing", async () => {
  const { agent, model } = agentWith(
    [workspace({ filesystem: new InMemoryFilesystem(), promptTokens: 0 })],
    { systemPrompt: "You help." },
  );
  const reply = await agent.call("hi", ada);
  expect([textOf(reply.message), model.requests[0]?.system]).toEqual(["done", "You help."]);
});

test.each<[string, WorkspaceOptions]>([
  ["root", { root: "" }],
  ["root", { root: "a", filesystem: new InMemoryFilesystem() }],
  ["shell", { shell: true }],
  ["filesystem", { filesystem: {} as Filesystem }],
  ["promptTokens", { promptTokens: -1 }],
  ["maxReadBytes", { maxReadBytes: 10 }],
  ["maxReadLines", { maxReadLines: 0 }],
  ["skills.0.name", { skills: [{ name: "../x", description: "d", instructions: "" }] }],
  ["skills", { skills: [1, 2].map(() => ({ name: "x", description: "d", instructions: "" })) }],
])("a wrong option is named: %s", (name, options) => {
  expect(() => workspace(options)).toThrow(
    expect.objectContaining<Partial<ConfigurationError>>({
      name: "ConfigurationError",
      message: expect.stringContaining(`option ${name} is`),
    }),
  );
});
