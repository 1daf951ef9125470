import { join, resolve } from "node:path";
import { type Filesystem, InvalidInputError } from "@holdfast/core";
import {
  type CommandResult,
  type FileInfo,
  type FileNamespace,
  parseOptions,
  type SharedFiles,
  type ShellCommand,
  showPath,
} from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { MAX_CACHED_BYTES, MAX_CACHED_FILES, maxFileBytesSchema } from "../limits.js";
import { namespaceDirectories } from "../namespace-names.js";
import { runLimited } from "../run-limited.js";
import { DirectoryTree } from "./directory-tree.js";
import { SharedDirectory } from "./shared-directory.js";
import { StatCache } from "./stat-cache.js";
import { directoryTreePath, fileTreePath } from "./tree-path.js";

/** Options of a {@link LocalFilesystem}. */
export interface LocalFilesystemOptions {
  /** Workspace directory, created when it is first needed; relative to the working directory. */
  readonly root: string;
  /**
   * Allows commands. They run as this process's user, in the namespace's directory but not confined to it: only for
   * agents that may do whatever that user may do.
   * @default false
   */
  readonly shell?: boolean | undefined;
  /** Largest file that is read or written. @default 67_108_864 */
  readonly maxFileBytes?: number | undefined;
}

const optionsSchema = s.strictObject({
  root: s.string().min(1),
  shell: s.boolean().default(false),
  maxFileBytes: maxFileBytesSchema,
});

/**
 * Files in a directory of this host: a user's in `users/<user>/`, those of a session without a user in
 * `sessions/<session>/`.
 *
 * - No path leaves its namespace: not by `..`, not through a link, and not while another process swaps directories for
 *   links. (The last as far as paths can be checked, on systems without `/proc/self/fd`.)
 * - `write` replaces a file atomically; concurrent `append`s of any number of processes lose nothing.
 * - `delete` removes a file, or a link itself, and the directories that this leaves empty.
 * - `list` shows files and directories; links, pipes and devices are left out, and the other methods refuse them.
 *
 * @example
 * const files = new LocalFilesystem({ root: "./workspace" });
 * await files.write(namespace, "notes/today.md", new TextEncoder().encode("# Today"));
 */
export class LocalFilesystem implements Filesystem {
  readonly contract = 1;
  readonly kind = "local";
  readonly reach = "host";
  readonly shared: SharedFiles;
  /** Runs a command in the namespace's directory; present only with the option `shell`. */
  readonly run?: (namespace: FileNamespace, command: ShellCommand) => Promise<CommandResult>;
  readonly #root: string;
  readonly #tree: DirectoryTree;
  readonly #cached = new StatCache<Uint8Array | null>({
    maxEntries: MAX_CACHED_FILES,
    isNothing: (bytes) => bytes === null,
    isKept: (bytes) => bytes === null || bytes.length <= MAX_CACHED_BYTES,
  });

  /** @throws ConfigurationError */
  constructor(options: LocalFilesystemOptions) {
    const { root, shell, maxFileBytes } = parseOptions(optionsSchema, options, "LocalFilesystem");
    this.#root = resolve(root);
    this.#tree = new DirectoryTree({ root: this.#root, maxFileBytes });
    this.shared = new SharedDirectory({ root, maxFileBytes });
    if (shell) this.run = (namespace, command) => this.#run(namespace, command);
  }

  async read(namespace: FileNamespace, path: string): Promise<Uint8Array | null> {
    return this.#tree.read(fileTreePath(namespaceDirectories(namespace), path));
  }

  /** Reads a file as `read` does, unless a stat shows that it is still the one that was read last. */
  async readCached(namespace: FileNamespace, path: string): Promise<Uint8Array | null> {
    const target = fileTreePath(namespaceDirectories(namespace), path);
    const names = [...target.top, ...target.segments];
    return this.#cached.get(
      names.join("/"),
      () => this.#tree.read(target),
      () => {
        const at = names.map((_, index) => join(this.#root, ...names.slice(0, index + 1)));
        return { way: at.slice(0, -1), content: at.slice(-1) };
      },
    );
  }

  async write(namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void> {
    await this.#tree.write(fileTreePath(namespaceDirectories(namespace), path), bytes);
  }

  async append(namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void> {
    await this.#tree.append(fileTreePath(namespaceDirectories(namespace), path), bytes);
  }

  async delete(namespace: FileNamespace, path: string): Promise<boolean> {
    return this.#tree.delete(fileTreePath(namespaceDirectories(namespace), path));
  }

  async list(namespace: FileNamespace, path = ""): Promise<readonly FileInfo[]> {
    return this.#tree.list(directoryTreePath(namespaceDirectories(namespace), path));
  }

  async #run(namespace: FileNamespace, command: ShellCommand): Promise<CommandResult> {
    const top = namespaceDirectories(namespace);
    const home = join(this.#root, ...top);
    const { workingDirectory = "", timeoutMs, signal } = command;
    const target = directoryTreePath(top, workingDirectory);
    await this.#tree.make(directoryTreePath(top, ""));
    if (!(await this.#tree.has(target)))
      throw new InvalidInputError(`there is no directory ${showPath(workingDirectory)} to work in`);
    return runLimited({
      argv: ["sh", "-c", command.command],
      cwd: join(home, ...target.segments),
      // Nothing else of this process's environment: it may hold secrets.
      env: {
        PATH: process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
        LANG: process.env["LANG"] ?? "C.UTF-8",
        HOME: home,
      },
      timeoutMs,
      signal,
    });
  }
}
