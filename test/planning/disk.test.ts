import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { toolResultsOf } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { mcpTools } from "@holdfast/mcp";
import { planning } from "@holdfast/planning";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import {
  type ScriptedReply,
  type ScriptedToolCall,
  scriptedModel,
  tempDirectory,
} from "@holdfast/testing";
import { LocalFilesystemSpec } from "@holdfast/workspace";
import { expect, onTestFinished, test } from "vitest";

const session = { userId: "ann", sessionId: "s" };
const server = createRequire(new URL("../../packages/mcp/package.json", import.meta.url)).resolve(
  "@modelcontextprotocol/server-filesystem/dist/index.js",
);

const enter: ScriptedToolCall = { name: "plan_enter", input: {} };

/** An agent on a directory of its own, with a shell, and with an MCP server that reads and writes another directory. */
async function agentOnDisk(
  script: (elsewhere: string) => readonly ScriptedReply[],
  trustAnnotations = true,
) {
  const directory = await tempDirectory();
  onTestFinished(directory.cleanup);
  const workspace = join(directory.path, "workspace");
  const files = join(workspace, "users", "ann", "notes");
  const elsewhere = join(directory.path, "elsewhere");
  await Promise.all([mkdir(files, { recursive: true }), mkdir(elsewhere)]);
  await writeFile(join(files, "a.txt"), "old");
  await writeFile(join(elsewhere, "a.txt"), "old");
  const agent = HarnessAgent.builder()
    .name("assistant")
    .model(scriptedModel(script(elsewhere)))
    .workspace(workspace)
    .stateStore(new JsonFileAgentStateStore({ root: join(directory.path, "state") }))
    .filesystem(new LocalFilesystemSpec({ shell: true }))
    .use(
      mcpTools({
        servers: {
          files: {
            command: process.execPath,
            args: [server, elsewhere],
            required: true,
            trustAnnotations,
          },
        },
      }),
      planning(),
    )
    .build();
  onTestFinished(() => agent.close());
  return {
    agent,
    /** The files that a tool could have changed, with their contents. */
    async written(): Promise<Record<string, string>> {
      const found: Record<string, string> = {};
      for (const root of [files, elsewhere])
        for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
          const path = join(entry.parentPath, entry.name);
          found[path.slice(directory.path.length)] = entry.isFile()
            ? await readFile(path, "utf8")
            : "(a directory)";
        }
      return found;
    },
    async results(): Promise<string[]> {
      const state = await agent.getAgentState(session);
      return (state?.context ?? [])
        .flatMap(toolResultsOf)
        .map(({ name, state: outcome }) => `${name} ${outcome}`);
    },
  };
}

/** Every way to write that the agent has. */
function writes(elsewhere: string): readonly ScriptedToolCall[] {
  return [
    { name: "write_file", input: { path: "notes/b.txt", content: "new" } },
    { name: "edit_file", input: { path: "notes/a.txt", old_string: "old", new_string: "new" } },
    { name: "execute", input: { command: "echo new > notes/c.txt" } },
    { name: "execute", input: { command: "cat notes/a.txt" } },
    { name: "files_write_file", input: { path: join(elsewhere, "b.txt"), content: "new" } },
    { name: "files_create_directory", input: { path: join(elsewhere, "c") } },
  ];
}

const untouched = {
  "/elsewhere/a.txt": "old",
  "/workspace/users/ann/notes/a.txt": "old",
};

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
  expect(await disk.written()).toMatchObject({
    "/elsewhere/b.txt": "new",
    "/workspace/users/ann/notes/a.txt": "new",
    "/workspace/users/ann/notes/b.txt": "new",
    "/workspace/users/ann/notes/c.txt": "new\n",
  });
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
    trusted,
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
