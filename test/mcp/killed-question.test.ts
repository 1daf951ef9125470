import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { ReActAgent, textOf, toolResultsOf } from "@holdfast/core";
import { mcpTools } from "@holdfast/mcp";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { scriptedModel, spawnScript, tempDirectory } from "@holdfast/testing";
import { expect, test } from "vitest";

const server = fileURLToPath(
  new URL("../../packages/mcp/test/fixtures/asking-server.mjs", import.meta.url),
);

test("a question of an MCP server survives kill -9: another process answers it, and the server gets the answers so far again", async () => {
  await using directory = await tempDirectory();
  const journal = `${directory.path}/journal`;
  const files = `${directory.path}/state`;
  const script = new URL("./asked-agent.mjs", import.meta.url);
  const killed = spawnScript(script, [files, server, journal]);
  await killed.line("tool_suspended Where to? (2)");
  await killed.kill9();

  const hotel = { command: process.execPath, args: [server, journal] };
  const model = scriptedModel(["Booked."]);
  const agent = new ReActAgent({
    name: "tester",
    model,
    plugins: [mcpTools({ servers: { hotel } })],
    stateStore: new JsonFileAgentStateStore({ root: files }),
  });
  const [asked] = await agent.pending(null, "trip");
  expect(asked?.question?.message).toBe("Where to? (2)");
  const answer = (action: "decline" | "cancel") =>
    agent.call(
      { answers: [{ toolCallId: asked?.toolCallId as string, action }] },
      { sessionId: "trip" },
    );
  const next = await answer("decline");
  expect("pending" in next && next.pending[0]?.question?.message).toBe("Where to? (3)");
  const end = await answer("cancel");
  expect([end.reason, end.text]).toEqual(["stop", "Booked."]);
  const state = await agent.getAgentState(null, "trip");
  const [result] = (state?.context ?? []).flatMap(toolResultsOf);
  const told = result?.output.map((block) => (block.type === "text" ? block.text : "")).join("");
  expect(JSON.parse(told ?? "")).toEqual([
    { action: "accept", content: { city: "Oslo", nights: 2 } },
    { action: "decline" },
    { action: "cancel" },
  ]);
  expect(state?.context.map(textOf).at(-1)).toBe("Booked.");
  const lines = (await readFile(journal, "utf8")).split("\n");
  expect(lines.filter((line) => line === "call book")).toHaveLength(2);
  expect(lines.filter((line) => line === "ran book")).toHaveLength(1);
  await agent.close();
});
