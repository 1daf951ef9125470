import { resolve } from "node:path";
import {
  checkDirectoryPath,
  checkFilePath,
  type FileInfo,
  parseOptions,
  type SharedFiles,
} from "@holdfast/core/plugin-kit";
import { z } from "zod";
import { maxFileBytesSchema } from "../limits.js";
import { DirectoryTree } from "./directory-tree.js";
import { fileInfo, listChild } from "./list-below.js";
import { directoryTreePath, fileTreePath } from "./tree-path.js";

/** Options of a {@link SharedDirectory}. */
export interface SharedDirectoryOptions {
  /** Workspace directory; relative to the working directory. */
  readonly root: string;
  /** Largest file that is read. @default 67_108_864 */
  readonly maxFileBytes?: number | undefined;
}

const optionsSchema = z.strictObject({
  root: z.string().min(1),
  maxFileBytes: maxFileBytesSchema,
});

const SHARED_FILE = "AGENTS.md";
const SHARED_DIRECTORIES = ["knowledge", "skills", "subagents"] as const;

/** Names at the top of a workspace directory that all users share. */
export const SHARED_NAMES: readonly string[] = [SHARED_FILE, ...SHARED_DIRECTORIES];

/**
 * Files that all users of a workspace directory share: `AGENTS.md`, `knowledge/`, `skills/` and `subagents/`. Nothing
 * else in the directory can be reached through it, and no link is followed.
 */
export class SharedDirectory implements SharedFiles {
  readonly #tree: DirectoryTree;

  /** @throws ConfigurationError */
  constructor(options: SharedDirectoryOptions) {
    const { root, maxFileBytes } = parseOptions(optionsSchema, options, "SharedDirectory");
    this.#tree = new DirectoryTree({ root: resolve(root), maxFileBytes });
  }

  /** @throws InvalidInputError for a path that leaves the directory or goes through a link */
  async read(path: string): Promise<Uint8Array | null> {
    const plain = checkFilePath(path);
    return isShared(plain) ? this.#tree.read(fileTreePath([], plain)) : null;
  }

  /** @throws InvalidInputError for a path that leaves the directory or goes through a link */
  async list(path = ""): Promise<readonly FileInfo[]> {
    const plain = checkDirectoryPath(path);
    if (plain !== "") return isShared(plain) ? this.#tree.list(directoryTreePath([], plain)) : [];
    const found: FileInfo[] = [];
    const top = directoryTreePath([], "");
    await this.#tree.enter("list", top, { make: false, otherwise: undefined }, async (root) => {
      const agents = await fileInfo(root, SHARED_FILE, SHARED_FILE);
      if (agents !== null) found.push(agents);
      for (const name of SHARED_DIRECTORIES) await listChild(root, name, name, found);
    });
    return found.sort((a, b) => (a.path < b.path ? -1 : 1));
  }
}

function isShared(path: string): boolean {
  return path === SHARED_FILE || SHARED_DIRECTORIES.some((name) => path.split("/", 1)[0] === name);
}
