import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Plugin, toolResultsOf } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { mcpTools } from "@holdfast/mcp";
import { planning } from "@holdfast/planning";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import {
  type ReplyFunction,
  type ScriptedReply,
  type ScriptedToolCall,
  scriptedModel,
  tempDirectory,
} from "@holdfast/testing";
import { LocalFilesystemSpec } from "@holdfast/workspace";
import { onTestFinished } from "vitest";

const server = createRequire(new URL("../../packages/mcp/package.json", import.meta.url)).resolve(
  "@modelcontextprotocol/server-filesystem/dist/index.js",
);

/** Session that the calls of an agent on disk are made in. */
export const session = { userId: "ann", sessionId: "s" };

/** Options of {@link agentOnDisk}. */
export interface DiskOptions {
  /** Believes what the MCP server says about its tools. @default true */
  readonly trustAnnotations?: boolean;
  readonly plugins?: readonly Plugin[];
}

/** An agent on a directory of its own, with a shell, and with an MCP server that reads and writes another directory. */
export async function agentOnDisk(
  script: (elsewhere: string) => readonly ScriptedReply[] | ReplyFunction,
  { trustAnnotations = true, plugins = [] }: DiskOptions = {},
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
      ...plugins,
    )
    .build();
  onTestFinished(() => agent.close());
  return {
    agent,
    elsewhere,
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
export function writes(elsewhere: string): readonly ScriptedToolCall[] {
  return [
    { name: "write_file", input: { path: "notes/b.txt", content: "new" } },
    { name: "edit_file", input: { path: "notes/a.txt", old_string: "old", new_string: "new" } },
    { name: "execute", input: { command: "echo new > notes/c.txt" } },
    { name: "execute", input: { command: "cat notes/a.txt" } },
    { name: "files_write_file", input: { path: join(elsewhere, "b.txt"), content: "new" } },
    { name: "files_create_directory", input: { path: join(elsewhere, "c") } },
  ];
}

/** Files before anything was written. */
export const untouched = {
  "/elsewhere/a.txt": "old",
  "/workspace/users/ann/notes/a.txt": "old",
};

/** Files after all {@link writes}. */
export const allWritten = {
  "/elsewhere/b.txt": "new",
  "/workspace/users/ann/notes/a.txt": "new",
  "/workspace/users/ann/notes/b.txt": "new",
  "/workspace/users/ann/notes/c.txt": "new\n",
};
