import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { HarnessAgent, type HarnessAgentBuilder } from "../src/index.js";
import { problemsOf } from "./problems-of.js";
import { distributedParts, inMemoryParts } from "./stores.js";
import { temporaryDirectory } from "./temporary-directory.js";

const slot = { agentId: "assistant", userId: "alice", sessionId: "s-1" };

function builder(): HarnessAgentBuilder {
  return HarnessAgent.builder()
    .name("assistant")
    .model(scriptedModel(() => "done"));
}

async function callOnce(configured: HarnessAgentBuilder): Promise<void> {
  const agent = configured.build();
  await agent.call("hello", { userId: "alice", sessionId: "s-1" });
  await agent.close();
}

test("a state store alone brings its own log, gate and signals", async () => {
  const { stateStore, log } = distributedParts();
  await callOnce(builder().stateStore(stateStore));
  expect(await stateStore.load(slot)).not.toBeNull();
  expect(await log.read(slot)).not.toEqual([]);
});

test("a distributed store serves every part", async () => {
  const parts = inMemoryParts();
  const { log } = inMemoryParts();
  await callOnce(builder().distributedStore({ ...parts, log }));
  expect(await parts.stateStore.load(slot)).not.toBeNull();
  expect(await log.read(slot)).not.toEqual([]);
  expect(await parts.log.read(slot)).toEqual([]);
});

test("a part set by itself wins over the distributed store's and the companions", async () => {
  for (const configure of [
    (b: HarnessAgentBuilder, parts: ReturnType<typeof inMemoryParts>) => b.distributedStore(parts),
    (b: HarnessAgentBuilder, parts: ReturnType<typeof inMemoryParts>) =>
      b.stateStore(parts.stateStore),
  ]) {
    const parts = inMemoryParts();
    const { log } = inMemoryParts();
    await callOnce(configure(builder(), parts).log(log));
    expect(await log.read(slot)).not.toEqual([]);
    expect(await parts.log.read(slot)).toEqual([]);
  }
});

test("the gate that is set is the one calls wait at", async () => {
  const { gate } = inMemoryParts();
  const lease = await gate.acquire(slot, { callId: "other" });
  const agent = builder().stateStore(inMemoryParts().stateStore).gate(gate).build();
  await expect(
    agent.call("hello", { userId: "alice", sessionId: "s-1", onBusy: "reject" }),
  ).rejects.toMatchObject({ code: "SESSION_BUSY" });
  await lease.release();
  await agent.close();
});

test("the signals that are set are the ones calls listen to", async () => {
  const { signals } = inMemoryParts();
  const agent = builder()
    .model(
      scriptedModel(async () => {
        await signals.send(slot, "c-1", { kind: "interrupt" });
        return "too late";
      }),
    )
    .stateStore(inMemoryParts().stateStore)
    .signals(signals)
    .build();
  const reply = await agent.call("hello", { userId: "alice", sessionId: "s-1", callId: "c-1" });
  expect(reply.reason).toBe("interrupted");
  await agent.close();
});

test("naming the same state store twice is no problem, two different ones are", () => {
  const parts = inMemoryParts();
  const twice = builder().distributedStore(parts).stateStore(parts.stateStore);
  expect(problemsOf(() => twice.build())).toEqual([]);
  const other = inMemoryParts().stateStore;
  expect(problemsOf(() => twice.stateStore(other).build())).toEqual([
    expect.stringMatching(/^stateStore and distributedStore name two different state stores/),
  ]);
});

test("with files, the conversation log is in the user's part of the workspace", async () => {
  const directory = temporaryDirectory();
  const root = join(directory, "state");
  const workspace = join(directory, "workspace");
  await callOnce(builder().workspace(workspace).stateStore(new JsonFileAgentStateStore({ root })));
  const sessions = join(workspace, "users", "alice", "agents", "assistant", "sessions");
  expect(readdirSync(sessions)).toContain("s-1.log.jsonl");
  expect(readdirSync(root, { recursive: true }).join("\n")).not.toContain(".log.jsonl");
});

test("with files, a log that is set by itself leaves the workspace alone", async () => {
  const directory = temporaryDirectory();
  const workspace = join(directory, "workspace");
  const { log } = inMemoryParts();
  const stateStore = new JsonFileAgentStateStore({ root: join(directory, "state") });
  await callOnce(builder().workspace(workspace).stateStore(stateStore).log(log));
  expect(await log.read(slot)).not.toEqual([]);
  expect(existsSync(workspace)).toBe(false);
});
