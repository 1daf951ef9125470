import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compaction } from "@holdfast/compaction";
import { type AgentStateStore, InMemoryAgentStateStore, ReActAgent } from "@holdfast/core";
import { withEncryption } from "@holdfast/encryption";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { scriptedModel } from "@holdfast/testing";
import { expect, onTestFinished, test } from "vitest";

const ada = { userId: "ada", sessionId: "one" };

function agentOn(stateStore: AgentStateStore): ReActAgent {
  const plugins = [compaction({ triggerMessages: 0, keepMessages: 1 })];
  const agent = new ReActAgent({
    name: "a",
    model: scriptedModel(() => "ok"),
    stateStore,
    plugins,
  });
  onTestFinished(() => agent.close());
  return agent;
}

function encryptedFiles(): AgentStateStore {
  const root = mkdtempSync(join(tmpdir(), "holdfast-facts-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const keys = [{ id: "k", key: Buffer.alloc(32, 7) }];
  return withEncryption(new JsonFileAgentStateStore({ root, durability: "os" }), { keys });
}

test.each([
  ["memory", () => new InMemoryAgentStateStore()],
  ["encrypted files", encryptedFiles],
] as const)("titles and metadata are listed, kept and found: %s", async (_, open) => {
  const store = open();
  const agent = agentOn(store);
  await agent.call(`Which tea is best?\n${"I like green ones. ".repeat(300)}`, ada);
  await agent.call("Where is Oslo?", { ...ada, sessionId: "two" });
  const titles = async (query = {}): Promise<(string | undefined)[]> =>
    (await agent.sessions({ userId: "ada", ...query })).slots.map(({ info }) => info?.title).sort();
  expect(await titles()).toEqual(["Where is Oslo?", "Which tea is best?"]);

  // The first words outlive the message that they are from.
  await agent.call("And coffee?", ada);
  expect((await agent.compact(ada, { force: true })).compacted).toBe(true);
  expect(await titles({ text: "TEA best" })).toEqual(["Which tea is best?"]);

  // Also for a process that knows nothing of the session yet.
  await agentOn(store).call("And juice?", ada);
  expect(await titles({ text: "tea" })).toEqual(["Which tea is best?"]);

  await agent.setSession(ada, { title: "Drinks", metadata: { project: "kitchen", tags: ["x"] } });
  await agent.call("More?", ada);
  expect(await titles({ metadata: { project: "kitchen" } })).toEqual(["Drinks"]);
  expect(await titles({ metadata: { project: "hall" } })).toEqual([]);
  expect(await titles({ metadata: { tags: ["x"], project: "kitchen" }, text: "one" })).toEqual([
    "Drinks",
  ]);
  await agent.setSession("ada", "one", { metadata: null });
  expect(await titles({ metadata: { project: "kitchen" } })).toEqual([]);
  expect(await titles({ text: "drinks" })).toEqual(["Drinks"]);
  expect(await titles({ since: new Date(Date.now() + 3_600_000).toISOString() })).toEqual([]);
  expect(await titles({ until: new Date(Date.now() + 3_600_000).toISOString() })).toHaveLength(2);
});

test("what is wrong is refused in words", async () => {
  const agent = agentOn(new InMemoryAgentStateStore());
  await expect(agent.setSession(ada, { title: " " })).rejects.toThrow("1 to 200 characters");
  await expect(agent.setSession(ada, { title: 5 as never })).rejects.toThrow("null removes one");
  await expect(agent.setSession(ada, { metadata: [] as never })).rejects.toThrow(
    "null removes one",
  );
  await expect(agent.setSession(ada, { titel: "x" } as never)).rejects.toThrow(
    "did you mean title?",
  );
  await expect(agent.sessions({ since: "soon" })).rejects.toThrow("since is not a time");
});
