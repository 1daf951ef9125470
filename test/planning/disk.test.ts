import { toolResultsOf } from "@holdfast/core";
import type { ScriptedToolCall } from "@holdfast/testing";
import { expect, test } from "vitest";
import { agentOnDisk, allWritten, session, untouched, writes } from "./agent-on-disk.js";

const enter: ScriptedToolCall = { name: "plan_enter", input: {} };

const denied = [
  "edit_file denied",
  "execute denied",
  "execute denied",
  "files_create_directory denied",
  "files_write_file denied",
  "write_file denied",
];

test.each([
  ["before", (calls: readonly ScriptedToolCall[]) => [enter, ...calls]],
  ["after", (calls: readonly ScriptedToolCall[]) => [...calls, enter]],
] as const)(
  "plan_enter %s every way to write, in one step: nothing reaches the disk",
  async (_, batch) => {
    const disk = await agentOnDisk((elsewhere) => [{ toolCalls: batch(writes(elsewhere)) }, "ok"]);
    await disk.agent.call("go", session);
    expect(await disk.written()).toEqual(untouched);
    expect((await disk.results()).toSorted()).toEqual([...denied, "plan_enter success"].toSorted());
  },
);

test("in plan mode nothing reaches the disk; once the plan is approved, everything does", async () => {
  const plan = { name: "plan_write", input: { content: "1. Write." } };
  const disk = await agentOnDisk((elsewhere) => [
    { toolCalls: [enter] },
    { toolCalls: [plan, ...writes(elsewhere)] },
    { toolCalls: [{ name: "plan_exit", input: {} }, ...writes(elsewhere)] },
    { toolCalls: writes(elsewhere) },
    "ok",
  ]);
  const reply = await disk.agent.call("go", session);
  if (reply.reason !== "permission_asking") throw new Error(`ended with ${reply.reason}`);
  expect(reply.pending[0]?.reason).toContain("1. Write.");
  expect(await disk.written()).toEqual(untouched);
  const confirm = reply.pending.map(({ toolCallId }) => ({ toolCallId, approve: true }));
  await disk.agent.call({ confirm }, session);
  expect(await disk.written()).toMatchObject(allWritten);
});

test.each([
  ["that says it only reads, from a server that is trusted", true, "success"],
  ["of a server that is not trusted, whatever it says", false, "denied"],
])("an MCP tool %s", async (_, trusted, outcome) => {
  const disk = await agentOnDisk(
    (elsewhere) => [
      { toolCalls: [{ name: "files_list_directory", input: { path: elsewhere } }] },
      "ok",
    ],
    { trustAnnotations: trusted },
  );
  await disk.agent.enterPlanMode(session);
  await disk.agent.call("go", session);
  expect(await disk.results()).toEqual([`files_list_directory ${outcome}`]);
});

test("the plan is a file of the user, which the agent can read", async () => {
  const disk = await agentOnDisk(() => [
    { toolCalls: [enter, { name: "plan_write", input: { content: "1. Read." } }] },
    { toolCalls: [{ name: "read_file", input: { path: "plans/s.md" } }] },
    "ok",
  ]);
  await disk.agent.call("go", session);
  const state = await disk.agent.getAgentState(session);
  const read = state?.context.flatMap(toolResultsOf).find(({ name }) => name === "read_file");
  expect(JSON.stringify(read?.output)).toContain("1. Read.");
});
