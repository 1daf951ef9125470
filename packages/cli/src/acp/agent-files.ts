import type { Filesystem } from "@holdfast/core";
import {
  checkDirectoryPath,
  checkFilePath,
  type FileInfo,
  type FileNamespace,
  type SharedFiles,
} from "@holdfast/core/plugin-kit";

const MEMORY = "MEMORY.md";

/** Names at the top that are the agent's own: what left a context, memory, plans, tasks. */
const ownNames: ReadonlySet<string> = new Set([
  ...["agents", "conversation_history", "data", "large_tool_results"],
  ...[MEMORY, "memory", "plans"],
]);

/**
 * Files of an agent in an editor: those of the project, except for what the agent keeps for itself, which is written to its own
 * workspace and never to the project. A file of the project under such a name is read where the agent has none.
 */
export class AgentFiles implements Filesystem {
  readonly contract = 1;
  readonly kind: string;
  readonly reach = "host";
  readonly shared: SharedFiles;
  readonly #own: Filesystem;
  readonly #project: Filesystem;
  readonly #disk: Filesystem;

  /**
   * @param own - files of the agent's workspace
   * @param project - files of the project, as the editor shows them
   * @param disk - the same as they are on disk
   */
  constructor(own: Filesystem, project: Filesystem, disk: Filesystem) {
    this.#own = own;
    this.#disk = disk;
    this.#project = project;
    this.kind = project.kind;
    this.shared = both(project.shared, own.shared);
  }

  async read(namespace: FileNamespace, path: string): Promise<Uint8Array | null> {
    const plain = checkFilePath(path);
    if (!isOwn(plain)) return this.#project.read(namespace, plain);
    const own = await this.#own.read(namespace, plain);
    // What a project calls so is not what the agent remembers.
    if (own || plain === MEMORY) return own;
    // An editor is asked for nothing that is not there: the agent looks for its own files again and again.
    return (await this.#disk.read(namespace, plain)) && this.#project.read(namespace, plain);
  }

  async readCached(namespace: FileNamespace, path: string): Promise<Uint8Array | null> {
    return isOwn(checkFilePath(path)) && this.#own.readCached
      ? this.#own.readCached(namespace, path)
      : this.read(namespace, path);
  }

  async write(namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void> {
    return this.#ownerOf(path).write(namespace, path, bytes);
  }

  async append(namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void> {
    return this.#ownerOf(path).append(namespace, path, bytes);
  }

  async delete(namespace: FileNamespace, path: string): Promise<boolean> {
    return this.#ownerOf(path).delete(namespace, path);
  }

  async list(namespace: FileNamespace, path = ""): Promise<readonly FileInfo[]> {
    const directory = checkDirectoryPath(path);
    const project = await this.#project.list(namespace, directory);
    if (directory !== "" && !isOwn(directory)) return project;
    // The root shows the project alone: the agent's own files are named where they are needed.
    const own = directory === "" ? [] : await this.#own.list(namespace, directory);
    return merged(own, project);
  }

  async close(): Promise<void> {
    await this.#project.close?.();
    await this.#own.close?.();
  }

  #ownerOf(path: string): Filesystem {
    return isOwn(checkFilePath(path)) ? this.#own : this.#project;
  }
}

function isOwn(path: string): boolean {
  return ownNames.has(path.split("/", 1)[0] ?? "");
}

/** Merges two listings; of two entries with the same path the first counts. */
function merged(first: readonly FileInfo[], second: readonly FileInfo[]): readonly FileInfo[] {
  const found = new Map([...second, ...first].map((info) => [info.path, info]));
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Shared files of the project, and behind them those of the workspace. */
function both(project: SharedFiles | undefined, own: SharedFiles | undefined): SharedFiles {
  return {
    read: async (path) => (await project?.read(path)) ?? (await own?.read(path)) ?? null,
    list: async (path) => merged((await project?.list(path)) ?? [], (await own?.list(path)) ?? []),
  };
}
