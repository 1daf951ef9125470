import { resolve } from "node:path";
import type { Filesystem } from "@holdfast/core";
import {
  type FileInfo,
  type FileNamespace,
  parseOptions,
  type SharedFiles,
} from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { maxFileBytesSchema } from "../limits.js";
import { DirectoryTree } from "./directory-tree.js";
import { SharedDirectory } from "./shared-directory.js";
import { directoryTreePath, fileTreePath } from "./tree-path.js";

/** Options of a {@link ProjectFilesystem}. */
export interface ProjectFilesystemOptions {
  /** Directory of the project; relative to the working directory. */
  readonly root: string;
  /** Largest file that is read or written. @default 67_108_864 */
  readonly maxFileBytes?: number | undefined;
}

const optionsSchema = s.strictObject({
  root: s.string().min(1),
  maxFileBytes: maxFileBytesSchema,
});

/** Directories that are not listed, and so not searched; their files can be read. */
const hidden: ReadonlySet<string> = new Set([
  ...[".git", ".hg", ".svn", ".jj", ".holdfast"],
  ...["node_modules", ".venv", "__pycache__", ".cache", ".next", ".turbo"],
]);

/** Most entries of a listing. */
const MAX_ENTRIES = 50_000;

/**
 * Files of a project on this host at their own paths, the same for every user: for agents that work on a person's files, as
 * in an editor.
 *
 * - No path leaves the directory, neither by `..` nor through a link; links are not listed.
 * - What no person wrote, such as `.git` and `node_modules`, is not listed; it can be read.
 * - What this process may not read, such as a volume of another user, is not listed either.
 *
 * @example
 * const disk = new ProjectFilesystem({ root: editor.cwd });
 */
export class ProjectFilesystem implements Filesystem {
  readonly contract = 1;
  readonly kind = "project";
  readonly reach = "host";
  /** `AGENTS.md`, `knowledge/`, `skills/` and `subagents/` of the project. */
  readonly shared: SharedFiles;
  readonly #tree: DirectoryTree;

  /** @throws ConfigurationError */
  constructor(options: ProjectFilesystemOptions) {
    const { maxFileBytes, ...given } = parseOptions(optionsSchema, options, "ProjectFilesystem");
    const root = resolve(given.root);
    this.#tree = new DirectoryTree({ root, maxFileBytes });
    this.shared = new SharedDirectory({ root, maxFileBytes });
  }

  async read(_namespace: FileNamespace, path: string): Promise<Uint8Array | null> {
    return this.#tree.read(fileTreePath([], path));
  }

  async write(_namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void> {
    await this.#tree.write(fileTreePath([], path), bytes);
  }

  async append(_namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void> {
    await this.#tree.append(fileTreePath([], path), bytes);
  }

  async delete(_namespace: FileNamespace, path: string): Promise<boolean> {
    return this.#tree.delete(fileTreePath([], path));
  }

  async list(_namespace: FileNamespace, path = ""): Promise<readonly FileInfo[]> {
    const directory = directoryTreePath([], path);
    return this.#tree.list(directory, { hidden, maxEntries: MAX_ENTRIES, skipsUnreadable: true });
  }
}
