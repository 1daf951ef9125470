import { readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Filesystem } from "@holdfast/core";
import {
  checkDirectoryPath,
  type FileInfo,
  type FileNamespace,
  parseOptions,
  type SharedFiles,
} from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { maxFileBytesSchema } from "../limits.js";
import { DirectoryTree } from "./directory-tree.js";
import { SharedDirectory } from "./shared-directory.js";
import { isTemporaryName } from "./temporary-name.js";
import { fileTreePath } from "./tree-path.js";

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
  readonly #root: string;
  readonly #tree: DirectoryTree;

  /** @throws ConfigurationError */
  constructor(options: ProjectFilesystemOptions) {
    const { root, maxFileBytes } = parseOptions(optionsSchema, options, "ProjectFilesystem");
    this.#root = resolve(root);
    this.#tree = new DirectoryTree({ root: this.#root, maxFileBytes });
    this.shared = new SharedDirectory({ root: this.#root, maxFileBytes });
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
    const found: FileInfo[] = [];
    await this.#listBelow(checkDirectoryPath(path), found);
    return found.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  async #listBelow(directory: string, found: FileInfo[]): Promise<void> {
    const at = join(this.#root, directory);
    const entries = await readdir(at, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (found.length >= MAX_ENTRIES) return;
      const path = directory === "" ? entry.name : `${directory}/${entry.name}`;
      const isDirectory = entry.isDirectory();
      if (isTemporaryName(entry.name) || (isDirectory && hidden.has(entry.name))) continue;
      if (!isDirectory && !entry.isFile()) continue;
      const info = await stat(join(at, entry.name)).catch(() => null);
      if (!info) continue;
      const kind = isDirectory ? "directory" : "file";
      const bytes = isDirectory ? 0 : info.size;
      found.push({ path, kind, bytes, modifiedAt: info.mtime.toISOString() });
      if (isDirectory) await this.#listBelow(path, found);
    }
  }
}
