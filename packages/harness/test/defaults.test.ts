import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { afterEach, expect, test, vi } from "vitest";
import { HarnessAgent } from "../src/index.js";
import { inMemoryParts } from "./stores.js";
import { temporaryDirectory } from "./temporary-directory.js";

afterEach(() => void vi.unstubAllEnvs());

test("build() touches no file: neither the state home nor the workspace appears", async () => {
  const directory = temporaryDirectory();
  vi.stubEnv("HOLDFAST_STATE_HOME", join(directory, "state"));
  const agent = HarnessAgent.builder()
    .name("assistant")
    .model(scriptedModel(["hello"]))
    .workspace(join(directory, "workspace"))
    .build();
  expect(readdirSync(directory)).toEqual([]);
  await agent.call("hi");
  expect(readdirSync(directory).sort()).toEqual(["state", "workspace"]);
  await agent.close();
});

test("state goes to files under HOLDFAST_STATE_HOME, by agent id", async () => {
  const home = temporaryDirectory();
  vi.stubEnv("HOLDFAST_STATE_HOME", home);
  const agent = HarnessAgent.builder()
    .name("assistant")
    .agentId("helper")
    .model(scriptedModel(["hello"]))
    .workspace(temporaryDirectory())
    .build();
  await agent.call("hi");
  await agent.close();
  expect(readdirSync(home)).toContain("helper");
});

test("the harness's own settings have their documented defaults", () => {
  const agent = HarnessAgent.create({
    name: "assistant",
    model: scriptedModel([]),
    stateStore: inMemoryParts().stateStore,
  });
  expect(agent.harness).toEqual({
    workspace: resolve(".holdfast/workspace"),
    sessionTools: true,
    skills: [],
    singleNode: false,
    signalHandlers: false,
  });
  expect(existsSync(agent.harness.workspace)).toBe(false);
});

test("settings for later packages are kept as given", () => {
  const skill = { name: "review", description: "Reviews code.", instructions: "Read it twice." };
  const agent = HarnessAgent.builder()
    .name("assistant")
    .model(scriptedModel([]))
    .stateStore(inMemoryParts().stateStore)
    .sessionTools(false)
    .skills(skill)
    .skills({ ...skill, name: "plan", group: "planning" })
    .build();
  expect(agent.harness.sessionTools).toBe(false);
  expect(agent.harness.skills).toEqual([skill, { ...skill, name: "plan", group: "planning" }]);
});

test('a call that names no session goes to the session "default", or the one set', async () => {
  const { stateStore } = inMemoryParts();
  const builder = HarnessAgent.builder()
    .name("assistant")
    .model(scriptedModel(() => "hello"))
    .stateStore(stateStore);
  expect((await builder.build().call("hi")).sessionId).toBe("default");
  expect((await builder.defaultSessionId("main").build().call("hi")).sessionId).toBe("main");
  const { slots } = await stateStore.list({ agentId: "assistant" });
  expect(slots.map(({ slot }) => slot.sessionId).sort()).toEqual(["default", "main"]);
});
