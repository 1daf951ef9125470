import { join, resolve } from "node:path";
import {
  checkDirectoryPath,
  checkFilePath,
  type FileInfo,
  parseOptions,
  type SharedFiles,
} from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { maxFileBytesSchema } from "../limits.js";
import { DirectoryTree } from "./directory-tree.js";
import { fileInfo, listChild } from "./list-below.js";
import { type Sources, StatCache } from "./stat-cache.js";
import { directoryTreePath, fileTreePath } from "./tree-path.js";

/** Options of a {@link SharedDirectory}. */
export interface SharedDirectoryOptions {
  /** Workspace directory; relative to the working directory. */
  readonly root: string;
  /** Largest file that is read. @default 67_108_864 */
  readonly maxFileBytes?: number | undefined;
}

const optionsSchema = s.strictObject({
  root: s.string().min(1),
  maxFileBytes: maxFileBytesSchema,
});

const SHARED_FILE = "AGENTS.md";
const SHARED_DIRECTORIES = ["knowledge", "skills", "subagents"] as const;

/** Names at the top of a workspace directory that all users share. */
export const SHARED_NAMES: readonly string[] = [SHARED_FILE, ...SHARED_DIRECTORIES];

/** Size above which `AGENTS.md` is not kept in memory. */
const MAX_KEPT_BYTES = 1_048_576;

/**
 * Files that all users of a workspace directory share: `AGENTS.md`, `knowledge/`, `skills/` and `subagents/`. Nothing
 * else in the directory can be reached through it, and no link is followed.
 *
 * `AGENTS.md` and the lists of the three directories are kept until a stat of the files shows a change, because prompts need
 * them at every step.
 */
export class SharedDirectory implements SharedFiles {
  readonly #root: string;
  readonly #tree: DirectoryTree;
  readonly #instructions = new StatCache<Uint8Array | null>({
    maxEntries: 1,
    isNothing: (bytes) => bytes === null,
    isKept: (bytes) => bytes === null || bytes.length <= MAX_KEPT_BYTES,
  });
  readonly #lists = new StatCache<readonly FileInfo[]>({
    maxEntries: SHARED_DIRECTORIES.length,
    isNothing: (list) => list.length === 0,
  });

  /** @throws ConfigurationError */
  constructor(options: SharedDirectoryOptions) {
    const { root, maxFileBytes } = parseOptions(optionsSchema, options, "SharedDirectory");
    this.#root = resolve(root);
    this.#tree = new DirectoryTree({ root: this.#root, maxFileBytes });
  }

  /** @throws InvalidInputError for a path that leaves the directory or goes through a link */
  async read(path: string): Promise<Uint8Array | null> {
    const plain = checkFilePath(path);
    if (!isShared(plain)) return null;
    const read = () => this.#tree.read(fileTreePath([], plain));
    return plain === SHARED_FILE
      ? this.#instructions.get(plain, read, () => this.#at(plain))
      : read();
  }

  /** @throws InvalidInputError for a path that leaves the directory or goes through a link */
  async list(path = ""): Promise<readonly FileInfo[]> {
    const plain = checkDirectoryPath(path);
    if (plain !== "") return isShared(plain) ? this.#listBelow(plain) : [];
    const found: FileInfo[] = [];
    const top = directoryTreePath([], "");
    await this.#tree.enter("list", top, { make: false, otherwise: undefined }, async (root) => {
      const agents = await fileInfo(root, SHARED_FILE, SHARED_FILE);
      if (agents !== null) found.push(agents);
      for (const name of SHARED_DIRECTORIES) await listChild(root, name, name, found);
    });
    return found.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  #listBelow(path: string): Promise<readonly FileInfo[]> {
    const list = () => this.#tree.list(directoryTreePath([], path));
    if (path.includes("/")) return list();
    return this.#lists.get(
      path,
      async () => Object.freeze(await list()),
      (found) => this.#at(path, ...found.map((info) => info.path)),
    );
  }

  #at(...paths: readonly string[]): Sources {
    return { way: [], content: paths.map((path) => join(this.#root, path)) };
  }
}

function isShared(path: string): boolean {
  return path === SHARED_FILE || SHARED_DIRECTORIES.some((name) => path.split("/", 1)[0] === name);
}
