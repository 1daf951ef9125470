import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Filesystem } from "@holdfast/core";
import {
  checkDirectoryPath,
  type FileInfo,
  type FileNamespace,
  type SharedFiles,
} from "@holdfast/core/plugin-kit";
import { DEFAULT_MAX_FILE_BYTES, SharedDirectory } from "@holdfast/workspace";
import { DirectoryTree, fileTreePath, isTemporaryName } from "@holdfast/workspace/filesystem-kit";

/** Directories that are not listed, and so not searched; their files can be read. */
const hidden: ReadonlySet<string> = new Set([
  ...[".git", ".hg", ".svn", ".jj", ".holdfast"],
  ...["node_modules", ".venv", "__pycache__", ".cache", ".next", ".turbo"],
]);

/** Most entries of a listing. */
const MAX_ENTRIES = 50_000;

/**
 * Files of a project on disk, the same for every user. No path leaves the directory, neither by `..` nor through a link; links
 * are not listed.
 */
export class ProjectFiles implements Filesystem {
  readonly contract = 1;
  readonly kind = "project";
  readonly reach = "host";
  /** `AGENTS.md`, `knowledge/`, `skills/` and `subagents/` of the project. */
  readonly shared: SharedFiles;
  readonly #root: string;
  readonly #tree: DirectoryTree;

  /** @param root - absolute */
  constructor(root: string) {
    this.#root = root;
    this.#tree = new DirectoryTree({ root, maxFileBytes: DEFAULT_MAX_FILE_BYTES });
    this.shared = new SharedDirectory({ root });
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
