import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InMemoryAgentStateStore, type Message, toolResultsOf } from "@holdfast/core";
import { withEncryption } from "@holdfast/encryption";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { workspace } from "@holdfast/workspace";
import { expect, test } from "vitest";
import { HarnessAgent } from "../src/index.js";
import { distributedParts, inMemoryParts } from "./stores.js";
import { temporaryDirectory } from "./temporary-directory.js";

const ctx = { userId: "alice", sessionId: "s" };
const write: ScriptedReply = {
  toolCalls: [{ name: "write_file", input: { path: "notes/a.txt", content: "remember the milk" } }],
};
const read: ScriptedReply = { toolCalls: [{ name: "read_file", input: { path: "notes/a.txt" } }] };
const results = (messages: readonly Message[]): string =>
  JSON.stringify(messages.flatMap(toolResultsOf).map(({ output }) => output));

test("an agent has a directory of files by default, each user a part of it", async () => {
  const directory = temporaryDirectory();
  await writeFile(join(directory, "AGENTS.md"), "Answer in rhymes.");
  const model = scriptedModel([write, "Written.", read, "There is nothing."]);
  const agent = HarnessAgent.builder()
    .name("assistant")
    .model(model)
    .stateStore(inMemoryParts().stateStore)
    .workspace(directory)
    .build();
  await agent.call("note it", ctx);
  expect(await readdir(join(directory, "users", "alice", "notes"))).toEqual(["a.txt"]);
  expect(model.requests[0]?.system).toContain("Answer in rhymes.");
  await agent.call("what did alice note?", { ...ctx, userId: "bob" });
  expect(results(model.requests[3]?.messages ?? [])).not.toContain("milk");
  await agent.close();
});

test("with states that serve every node, so do the files; AGENTS.md comes with the deployment", async () => {
  const parts = distributedParts();
  const seen: string[] = [];
  for (const reply of [write, read]) {
    const directory = temporaryDirectory();
    await writeFile(join(directory, "AGENTS.md"), "Answer in rhymes.");
    const model = scriptedModel([reply, "Done."]);
    const node = HarnessAgent.builder()
      .name("assistant")
      .model(model)
      .distributedStore(parts)
      .workspace(directory)
      .build();
    await node.call("go", ctx);
    seen.push(results(model.requests[1]?.messages ?? []));
    expect(model.requests[0]?.system).toContain("Answer in rhymes.");
    expect(await readdir(directory)).toEqual(["AGENTS.md"]);
    await node.close();
  }
  expect(seen[1]).toContain("remember the milk");
});

test("with an encrypted store nothing readable is written to the directory", async () => {
  const directory = temporaryDirectory();
  const parts = withEncryption(new InMemoryAgentStateStore().companions(), {
    keys: [{ id: "k", key: new Uint8Array(32) }],
  });
  const model = scriptedModel([write, read, "Done."]);
  const agent = HarnessAgent.builder()
    .name("assistant")
    .model(model)
    .distributedStore(parts)
    .workspace(directory)
    .build();
  await agent.call("go", ctx);
  expect(results(model.requests[2]?.messages ?? [])).toContain("remember the milk");
  expect(await readdir(directory)).toEqual([]);
  await agent.close();
});

test("skills of the program are offered while their group is on", async () => {
  const directory = temporaryDirectory();
  const skill = { description: "Reviews code.", instructions: "Read it twice." };
  const model = scriptedModel([
    { toolCalls: [{ name: "read_file", input: { path: "skills/review/SKILL.md" } }] },
    "Done.",
  ]);
  const agent = HarnessAgent.builder()
    .name("assistant")
    .model(model)
    .stateStore(inMemoryParts().stateStore)
    .workspace(directory)
    .toolGroup("code", [], { active: true })
    .skills({ ...skill, name: "review", group: "code" }, { ...skill, name: "plan", group: "off" })
    .build();
  await agent.call("review it", ctx);
  expect(model.requests[0]?.system).toContain("skills/review/SKILL.md");
  expect(model.requests[0]?.system).not.toContain("skills/plan");
  expect(results(model.requests[1]?.messages ?? [])).toContain("Read it twice.");
  await agent.close();
});

test("a workspace plugin of one's own takes the place of the harness's", async () => {
  const directory = temporaryDirectory();
  await mkdir(join(directory, "other"));
  const agent = HarnessAgent.builder()
    .name("assistant")
    .model(scriptedModel([write, "Done."]))
    .stateStore(inMemoryParts().stateStore)
    .workspace(join(directory, "unused"))
    .use(workspace({ root: join(directory, "other") }))
    .build();
  await agent.call("go", ctx);
  expect(await readdir(join(directory, "other", "users"))).toEqual(["alice"]);
  expect(await readdir(directory)).toEqual(["other"]);
  await agent.close();
});

test("what the workspace says comes right behind the base of the prompt, hooks of the program after it", async () => {
  const directory = temporaryDirectory();
  await writeFile(join(directory, "AGENTS.md"), "Answer in rhymes.");
  const model = scriptedModel(["Done."]);
  const agent = HarnessAgent.builder()
    .name("assistant")
    .model(model)
    .stateStore(inMemoryParts().stateStore)
    .workspace(directory)
    .systemPrompt("BASE")
    .middleware({ name: "mine", onSystemPrompt: (prompt) => `${prompt}\nMINE` })
    .build();
  await agent.call("go", ctx);
  expect(model.requests[0]?.system).toMatch(/^BASE\n[\s\S]*Answer in rhymes\.[\s\S]*\nMINE$/);
  await agent.close();
});
