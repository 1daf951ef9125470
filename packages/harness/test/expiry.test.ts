import { readFileSync } from "node:fs";
import { join } from "node:path";
import { InProcessSessionGate } from "@holdfast/core";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { HarnessAgent } from "../src/index.js";
import { problemsOf } from "./problems-of.js";
import { temporaryDirectory } from "./temporary-directory.js";

const ttlMs = 3_600_000;

test("a session that expires takes the log in the workspace with it", async () => {
  const directory = temporaryDirectory();
  let now = Date.now();
  const clock = () => new Date(now);
  const stateStore = new JsonFileAgentStateStore({ root: join(directory, "state"), ttlMs, clock });
  const workspace = join(directory, "workspace");
  const model = scriptedModel(() => "yes");
  const agent = HarnessAgent.create({ name: "a", model, stateStore, workspace, clock });
  const log = join(workspace, "users/u/agents/a/sessions/s.log.jsonl");
  await agent.call("the first words", { userId: "u", sessionId: "s" });
  expect(readFileSync(log, "utf8")).toContain("the first words");
  now += 2 * ttlMs;
  await agent.call("the next words", { userId: "u", sessionId: "s" });
  expect(model.requests[1]?.messages).toHaveLength(1);
  const logged = readFileSync(log, "utf8");
  expect(logged).toContain("the next words");
  expect(logged).not.toContain("the first words");
  await agent.close();
});

test("sessions that expire need the gate of their store, which shows it the calls that run", async () => {
  const stateStore = new JsonFileAgentStateStore({ root: temporaryDirectory(), ttlMs });
  const options = { name: "a", model: scriptedModel([]), stateStore };
  const problems = problemsOf(() =>
    HarnessAgent.create({ ...options, gate: new InProcessSessionGate() }),
  );
  expect(problems.join()).toContain("only its own gate shows it which calls run");
});
