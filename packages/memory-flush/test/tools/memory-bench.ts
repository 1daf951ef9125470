import {
  characterEstimate,
  type Filesystem,
  InMemoryFilesystem,
  type TextBlock,
} from "@holdfast/core";
import { type FileNamespace, isExplicitToolResult } from "@holdfast/core/plugin-kit";
import { toolCallContext } from "@holdfast/testing";
import { MemoryFiles } from "../../src/files/memory-files.js";
import { memoryGetTool } from "../../src/tools/memory-get.js";
import { memorySaveTool } from "../../src/tools/memory-save.js";
import { memorySearchTool } from "../../src/tools/memory-search.js";
import type { MemoryToolParts } from "../../src/tools/memory-tool.js";

export const ada: FileNamespace = { agentId: "agent", userId: "ada", sessionId: "one" };

/** What a tool answered. */
export interface Answer {
  readonly blocks: readonly TextBlock[];
  readonly text: string;
  readonly isError: boolean;
}

/** Who calls a tool, and with what signal. */
export interface Caller {
  readonly userId: string | null;
  readonly sessionId: string;
  readonly signal?: AbortSignal;
}

export interface BenchOptions extends Partial<MemoryToolParts> {
  readonly filesystem?: Filesystem;
}

/** The tools of a memory, called as the engine would call them. */
export function memoryBench({
  filesystem = new InMemoryFilesystem(),
  ...parts
}: BenchOptions = {}) {
  const saves: FileNamespace[] = [];
  const toolParts: MemoryToolParts = {
    files: new MemoryFiles(filesystem),
    now: () => new Date("2026-03-05T10:00:00Z"),
    counter: () => characterEstimate(),
    maxTokens: 4_000,
    agentId: "agent",
    saved: (namespace) => saves.push(namespace),
    ...parts,
  };
  const tools = [memorySearchTool(toolParts), memoryGetTool(toolParts), memorySaveTool(toolParts)];
  const use = async (name: string, input: object, caller: Caller = ada): Promise<Answer> => {
    const tool = tools.find((each) => each.name === name);
    const { userId, sessionId, signal } = caller;
    const ctx = toolCallContext({ userId, sessionId, signal });
    const result: unknown = await tool?.execute?.(input as never, ctx);
    const output = isExplicitToolResult(result) ? result.output : result;
    const blocks =
      typeof output === "string"
        ? [{ type: "text" as const, text: output }]
        : (output as readonly TextBlock[]);
    return {
      blocks,
      text: blocks.map(({ text }) => text).join("\n"),
      isError: isExplicitToolResult(result) && result.state === "error",
    };
  };
  return {
    tools,
    saves,
    use,
    search: (query: string, caller?: Caller) => use("memory_search", { query }, caller),
    save: (content: string, caller?: Caller) => use("memory_save", { content }, caller),
    get: (path: string, lines: object = {}, caller?: Caller) =>
      use("memory_get", { path, ...lines }, caller),
    put: (path: string, text: string | Uint8Array, namespace: FileNamespace = ada) =>
      filesystem.write(
        namespace,
        path,
        typeof text === "string" ? new TextEncoder().encode(text) : text,
      ),
    read: async (path: string, namespace: FileNamespace = ada): Promise<string> => {
      const bytes = await filesystem.read(namespace, path);
      return bytes === null ? "" : new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    },
  };
}
