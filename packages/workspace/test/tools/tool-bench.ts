import {
  type DataBlock,
  type Filesystem,
  InMemoryFilesystem,
  type TextBlock,
} from "@holdfast/core";
import {
  type FileNamespace,
  isExplicitToolResult,
  type SharedFiles,
} from "@holdfast/core/plugin-kit";
import { toolCallContext } from "@holdfast/testing";
import { FileView, VirtualFiles } from "../../src/tools/file-view.js";
import { ProtectedPaths } from "../../src/tools/protected-paths.js";
import { workspaceTools } from "../../src/tools/workspace-tools.js";

export const ada: FileNamespace = { agentId: "agent", userId: "ada", sessionId: "one" };

/** Answer of a tool. */
export interface Answer {
  readonly blocks: readonly (TextBlock | DataBlock)[];
  readonly text: string;
  readonly isError: boolean;
}

export interface BenchOptions {
  readonly filesystem?: Filesystem;
  readonly virtual?: Readonly<Record<string, string>>;
  readonly maxReadLines?: number;
  readonly maxReadBytes?: number;
  readonly maxDataBytes?: number;
}

/** The tools of a workspace, called as the engine would call them. */
export function toolBench(options: BenchOptions = {}) {
  const filesystem: Filesystem = options.filesystem ?? new InMemoryFilesystem();
  const { virtual = {} } = options;
  const protectedPaths = new ProtectedPaths();
  const view = new FileView({
    filesystem,
    virtual: new VirtualFiles(new Map(Object.entries(virtual))),
    protectedPaths,
  });
  const limits = { maxReadLines: 2_000, maxReadBytes: 65_536, maxDataBytes: 700_000, ...options };
  const tools = workspaceTools(
    { agentId: "agent", filesystem, view, protectedPaths, limits },
    filesystem.run !== undefined,
  );
  const use = async (
    name: string,
    input: object,
    { userId, sessionId }: Pick<FileNamespace, "userId" | "sessionId"> = ada,
    signal?: AbortSignal,
  ): Promise<Answer> => {
    const tool = tools.find((each) => each.name === name);
    const ctx = toolCallContext({ userId, sessionId, signal });
    const result: unknown = await tool?.execute?.(input as never, ctx);
    const output = isExplicitToolResult(result) ? result.output : result;
    const blocks: readonly (TextBlock | DataBlock)[] =
      typeof output === "string"
        ? [{ type: "text", text: output }]
        : (output as readonly (TextBlock | DataBlock)[]);
    return {
      blocks,
      text: blocks.map((block) => (block.type === "text" ? block.text : "")).join("\n"),
      isError: isExplicitToolResult(result) && result.state === "error",
    };
  };
  return { filesystem, tools, view, use, read: (path: string) => readText(filesystem, path) };
}

export async function put(
  filesystem: Filesystem,
  path: string,
  content: string | Uint8Array,
  namespace: FileNamespace = ada,
): Promise<void> {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  await filesystem.write(namespace, path, bytes);
}

export async function readText(
  filesystem: Filesystem,
  path: string,
  namespace: FileNamespace = ada,
): Promise<string | null> {
  const bytes = await filesystem.read(namespace, path);
  return bytes && new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** An in-memory filesystem with files that all users share. */
export class SharingFilesystem extends InMemoryFilesystem {
  readonly #clock: () => Date;
  readonly #files = new InMemoryFilesystem({ clock: () => this.#clock() });
  /** Files read since the beginning. */
  readonly sharedReads: string[] = [];
  readonly shared: SharedFiles = {
    read: (path) => {
      this.sharedReads.push(path);
      return this.#files.read(ada, path);
    },
    list: (path) => this.#files.list(ada, path),
  };

  constructor(clock: () => Date = () => new Date(0)) {
    super();
    this.#clock = clock;
  }

  async share(path: string, content: string): Promise<this> {
    await put(this.#files, path, content);
    return this;
  }
}
